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

/// Whether a linker's name is that of top-level code that waits, or of a part of it: `async_Main`, `async_MainTY2_`. The
/// compiler does not mangle it, nor does it where nothing waits and the name is `main`.
func isTopLevelCode(_ name: String) -> Bool {
  guard name.hasPrefix("async_Main") else { return false }
  var rest = name.dropFirst("async_Main".count)
  // What is left of a function when it goes on after waiting.
  while rest.hasPrefix("TY") || rest.hasPrefix("TQ") {
    let digits = rest.dropFirst(2).prefix { $0.isNumber }
    let end = rest.dropFirst(2 + digits.count)
    guard end.first == "_" else { return false }
    rest = end.dropFirst()
  }
  return rest.isEmpty || rest.first == "."
}
