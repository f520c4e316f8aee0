// PackageFolder.swift: files of the package, for tests that compare with them.

public import Foundation

/// A file or folder of the package, found from this file.
public func packageFolder(_ path: String = "") -> URL {
  var root = URL(filePath: #filePath)
  for _ in 0..<4 { root.deleteLastPathComponent() }
  return path.isEmpty ? root : root.appending(path: path)
}
