// Tests of the guard of the remote mirror: a library that aborts in the middle of a question.

import CHeapCapture
import Glibc
import Testing

@Suite struct MirrorGuardTests {
  @Test("A question in which the library aborts has no answer, and the next one has")
  func abortInQuestion() {
    var mirror = mg_mirror()
    mirror.type_for_metadata = { _, metadata in
      if metadata == 0 { abort() }
      return UInt64(metadata)
    }
    mirror.info_for_type = { _, type in
      if type == 0 { abort() }
      return mg_type_info(kind: 4, size: 16, alignment: 8, stride: 16, field_count: 2)
    }
    mirror.copy_demangled_name = { _, _ in abort() }
    let before = mg_mirror_failures()
    for round in 1...3 {
      #expect(mg_mirror_type_for_metadata(&mirror, nil, 0) == 0)
      #expect(mg_mirror_type_for_metadata(&mirror, nil, 77) == 77)
      #expect(mg_mirror_info_for_type(&mirror, nil, 0).field_count == 0)
      #expect(mg_mirror_info_for_type(&mirror, nil, 1).field_count == 2)
      #expect(mg_mirror_copy_demangled_name(&mirror, nil, 1) == nil)
      #expect(mg_mirror_failures() - before == UInt64(3 * round))
    }
  }
}
