// Fingerprint: a name for a finding that is the same in each run, on each machine, after each build.

/// Twelve hexadecimal digits that follow from a finding's kind, types and fields alone.
///
/// Addresses, indices, counts and generic arguments are not in it; neither are closures' functions, whose
/// addresses differ from build to build: two closures in one field have one fingerprint. The hash is FNV-1a with 64 bits,
/// of whose bits the last step of SplitMix64 makes each depend on all; the lower 48 are taken.
///
///     fingerprint(of: ["leak", "App.Parent.child", "App.Child.parent"])
package func fingerprint(of parts: [String]) -> String {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  func add(_ byte: UInt8) {
    hash ^= UInt64(byte)
    hash = hash &* 0x100_0000_01B3
  }
  for part in parts {
    for byte in part.utf8 { add(byte) }
    add(0)
  }
  hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
  hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
  hash = (hash ^ (hash >> 31)) & 0xFFFF_FFFF_FFFF
  let digits = String(hash, radix: 16)
  return String(repeating: "0", count: 12 - digits.count) + digits
}
