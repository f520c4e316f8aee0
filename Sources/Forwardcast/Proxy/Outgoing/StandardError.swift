// StandardError.swift: the last resort for an error that nobody handles.
// Layer: Proxy. See DESIGN.md, "Errors".

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Standard error, written to directly.
package enum StandardError {
  /// Writes `text` in one piece where the system can.
  package static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while let start = rest.baseAddress, rest.count > 0 {
        #if canImport(Darwin)
          let written = Darwin.write(2, start, rest.count)
        #elseif canImport(Glibc)
          let written = Glibc.write(2, start, rest.count)
        #elseif canImport(Musl)
          let written = Musl.write(2, start, rest.count)
        #elseif canImport(Android)
          let written = Android.write(2, start, rest.count)
        #endif
        if written <= 0 { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[written...])
      }
    }
  }
}
