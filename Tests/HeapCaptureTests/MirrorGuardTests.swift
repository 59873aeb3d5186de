// Tests of the guard of the remote mirror: a library that gives up or breaks in the middle of a question.

import CHeapCapture
import Glibc
import Testing

/// Calls itself until the stack is full.
private func descend(_ depth: UInt64) -> UInt64 {
  withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { room in
    room[Int(depth % 1024)] = 1
    return depth == .max ? 0 : descend(depth + 1) &+ UInt64(room[Int(depth % 1024)])
  }
}

/// How a library may break.
enum Break: UInt64, CaseIterable, Sendable {
  case abort
  case badAddress
  case busError
  case fullStack
  case trap
}

private func breakDown(_ number: UInt64) {
  switch Break(rawValue: number) {
  case .abort: Glibc.abort()
  case .badAddress: UnsafeMutablePointer<UInt64>(bitPattern: 0x18)?.pointee = 1
  case .busError:
    // A page of a file behind the file's end.
    var name = Array("/tmp/memory-graph-test-XXXXXX".utf8CString)
    let file = mkstemp(&name)
    unlink(name)
    let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
    close(file)
    page?.storeBytes(of: 1, as: UInt8.self)
  case .fullStack: _ = descend(0)
  case .trap: trap()
  case nil: break
  }
}

/// Runs the instruction that compilers put where nothing should come.
private func trap() {
  let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
  page?.storeBytes(of: 0x0b0f, as: UInt16.self)
  mprotect(page, 4096, PROT_READ | PROT_EXEC)
  unsafeBitCast(page, to: (@convention(c) () -> Void).self)()
}

@Suite struct MirrorGuardTests {
  /// A library that breaks where the metadata or the type is the number of a `Break`, and else answers.
  private static func library() -> mg_mirror {
    var mirror = mg_mirror()
    mirror.type_for_metadata = { _, metadata in
      breakDown(UInt64(metadata))
      return UInt64(metadata)
    }
    mirror.info_for_type = { _, type in
      breakDown(type)
      return mg_type_info(kind: 4, size: 16, alignment: 8, stride: 16, field_count: 2)
    }
    mirror.copy_demangled_name = { _, type in
      breakDown(type)
      return nil
    }
    mirror.generic_argument_count = { type in
      breakDown(type)
      return 3
    }
    mirror.generic_argument = { type, index in
      breakDown(type)
      return type + UInt64(index)
    }
    mirror.add_sections = { context, sections in
      breakDown(sections.fields.size)
      return 7
    }
    mirror.create = { reader, _, _, _, _, _ in
      breakDown(UInt64(UInt(bitPattern: reader)))
      return reader
    }
    return mirror
  }

  private static func ask(_ kind: Break) {
    var mirror = library()
    let before = mg_mirror_failures()
    for round in 1...3 as ClosedRange<UInt64> {
      #expect(mg_mirror_type_for_metadata(&mirror, nil, UInt(kind.rawValue)) == 0)
      #expect(mg_mirror_type_for_metadata(&mirror, nil, 77) == 77)
      #expect(mg_mirror_info_for_type(&mirror, nil, kind.rawValue).field_count == 0)
      #expect(mg_mirror_info_for_type(&mirror, nil, 78).field_count == 2)
      #expect(mg_mirror_copy_demangled_name(&mirror, nil, kind.rawValue) == nil)
      #expect(mg_mirror_generic_argument_count(&mirror, kind.rawValue) == 0)
      #expect(mg_mirror_generic_argument_count(&mirror, 77) == 3)
      #expect(mg_mirror_generic_argument(&mirror, kind.rawValue, 1) == 0)
      #expect(mg_mirror_generic_argument(&mirror, 77, 1) == 78)
      var sections = mg_reflection_sections()
      sections.fields.size = kind.rawValue
      #expect(mg_mirror_add_sections(&mirror, nil, &sections) == 0)
      sections.fields.size = 99
      #expect(mg_mirror_add_sections(&mirror, nil, &sections) == 7)
      if let reader = UnsafeMutableRawPointer(bitPattern: UInt(kind.rawValue)) {
        #expect(mg_mirror_create(&mirror, reader, nil, nil, nil, nil, nil) == nil)
      }
      let perRound: UInt64 = kind.rawValue == 0 ? 6 : 7
      #expect(mg_mirror_failures() - before == perRound * round)
    }
  }

  @Test(
    "A question in which the library breaks has no answer, and the next one has",
    arguments: Break.allCases)
  func breaks(_ kind: Break) { Self.ask(kind) }

  @Test("So it is on a thread with a small stack, which has no stack for signals of its own")
  func onThread() {
    let isDone = mg_call_on_stack(
      256 << 10,
      { _ in for kind in Break.allCases { MirrorGuardTests.ask(kind) } }, nil)
    #expect(isDone)
  }

  @Test(
    "A fault outside a question, or of another thread, ends the process as ever",
    arguments: [false, true])
  func others(isAsking: Bool) {
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
    let child = fork()
    if child == 0 {
      // Swift's own handler may have something to say.
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO)
      var mirror = mg_mirror()
      mirror.type_for_metadata = { _, metadata in UInt64(metadata) }
      _ = mg_mirror_type_for_metadata(&mirror, nil, 1)
      guard isAsking else {
        UnsafeMutablePointer<UInt64>(bitPattern: 0x18)?.pointee = 1
        _exit(0)
      }
      mirror.type_for_metadata = { _, _ in
        var thread = pthread_t()
        pthread_create(
          &thread, nil,
          { _ in
            UnsafeMutablePointer<UInt64>(bitPattern: 0x18)?.pointee = 1
            return nil
          }, nil)
        pthread_join(thread, nil)
        return 1
      }
      _ = mg_mirror_type_for_metadata(&mirror, nil, 1)
      _exit(0)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    #expect(status & 0x7f == SIGSEGV, "status \(status)")
  }
}
