// PackageFolder.swift: locates files of the package.

public import Foundation

/// The location of a file or folder of the package.
public func packageFolder(_ path: String = "") -> URL {
  var root = URL(filePath: #filePath)
  for _ in 0..<4 { root.deleteLastPathComponent() }
  return path.isEmpty ? root : root.appending(path: path)
}
