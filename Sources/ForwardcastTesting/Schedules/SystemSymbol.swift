// SystemSymbol.swift: what the running process has under a name of the linker.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The function or variable of that name, in whatever library; `nil` where there is none.
func systemSymbol(_ name: String) -> UnsafeMutableRawPointer? {
  #if canImport(Darwin)
    dlsym(UnsafeMutableRawPointer(bitPattern: -2), name)
  #else
    dlsym(nil, name)
  #endif
}
