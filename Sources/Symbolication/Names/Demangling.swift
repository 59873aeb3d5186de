// Demangling: from the linker's names to the text that the runtimes' demanglers give.

internal import CLibdw
internal import Glibc

/// The Swift demangler's text for a mangled name; nil where it isn't a Swift name.
func demangleSwift(_ name: UnsafePointer<CChar>) -> String? {
  guard let text = swift_demangle(name, strlen(name), nil, nil, 0) else { return nil }
  defer { free(text) }
  return String(cString: text)
}

/// The C++ demangler of the library that the Swift runtime comes with; nil where the name is no C++
/// name, or a static program has no such library.
func demangleCxx(_ name: UnsafePointer<CChar>) -> String? {
  typealias Demangle =
    @convention(c) (
      UnsafePointer<CChar>, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?,
      UnsafeMutablePointer<Int32>
    ) -> UnsafeMutablePointer<CChar>?
  guard let symbol = dlsym(nil, "__cxa_demangle") else { return nil }
  var status: Int32 = 0
  guard let text = unsafeBitCast(symbol, to: Demangle.self)(name, nil, nil, &status) else {
    return nil
  }
  defer { free(text) }
  return String(cString: text)
}

/// Whether a name has one of the Swift mangling prefixes.
func isSwiftMangled(_ name: UnsafePointer<CChar>) -> Bool {
  name[0] == 0x24 && (name[1] == 0x73 || name[1] == 0x53)  // $s, $S
    || name[0] == 0x5f && name[1] == 0x24 && (name[2] == 0x73 || name[2] == 0x53)  // _$s, _$S
    || strncmp(name, "_T0", 3) == 0
}
