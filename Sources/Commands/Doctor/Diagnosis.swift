// Diagnosis: what a machine means for the tool, and the mend.

package import GraphReport

extension Machine {
  /// What works on this machine, what does so in part, and what has to be done for the rest.
  package var diagnosis: [DoctorReport.Row] {
    [
      _preload, _graphdiff, _types, _attach, _twin, _heap, _stacks, _names, _cores, _lint,
      _characters,
    ].compactMap { $0 }
  }

  private var _preload: DoctorReport.Row {
    missingFiles.contains("libMemoryGraphPreload.so")
      ? DoctorReport.Row(
        "run", .missing, "libMemoryGraphPreload.so is not in \(folder)",
        mend: "build the whole package (swift build), or install with scripts/install")
      : folder.contains(":") || folder.contains(" ")
        ? DoctorReport.Row(
          "run", .missing, "LD_PRELOAD can't name \(folder), which has a space or a colon",
          mend: "install the tool in another folder")
        : DoctorReport.Row("run", .fine, "the library to preload is beside the tool")
  }

  private var _graphdiff: DoctorReport.Row? {
    missingFiles.contains("graphdiff")
      ? DoctorReport.Row(
        "graphdiff", .limited, "it is not in \(folder)",
        mend: "memgraph diff does the same; swift build builds both")
      : nil
  }

  private var _types: DoctorReport.Row {
    mirrorProblem.map {
      DoctorReport.Row(
        "types and fields", .missing, $0,
        mend: "install a Swift toolchain and have its swiftc on PATH, or name the folder of"
          + " libswiftRemoteMirror.so in LD_LIBRARY_PATH")
    } ?? DoctorReport.Row("types and fields", .fine, "libswiftRemoteMirror can be loaded")
  }

  private var _attach: DoctorReport.Row {
    if let readProblem {
      return DoctorReport.Row(
        "attach", .missing, "the kernel lets nobody read another process here: \(readProblem)",
        mend: "use memgraph run, or the agent linked into the program; or allow ptrace in the"
          + " container (--cap-add=SYS_PTRACE, or a seccomp profile that does)")
    }
    switch (ptraceScope ?? 0, isPrivileged) {
    case (3, _):
      return DoctorReport.Row(
        "attach", .missing, "kernel.yama.ptrace_scope is 3: nobody may attach until the next boot",
        mend: "use memgraph run, or the agent linked into the program")
    case (1, false), (2, false):
      return DoctorReport.Row(
        "attach", .limited,
        "kernel.yama.ptrace_scope is \(ptraceScope ?? 0): only root may attach to a running program",
        mend: "attach as root, or: sudo sysctl kernel.yama.ptrace_scope=0")
    default:
      return DoctorReport.Row(
        "attach", .fine,
        isPrivileged ? "any process may be read" : "processes of the same user may be read")
    }
  }

  private var _twin: DoctorReport.Row? {
    readProblem == nil
      ? nil
      : DoctorReport.Row(
        "snapshots of run", .fine,
        "the program's copy serves its own memory where nobody may read it")
  }

  private var _heap: DoctorReport.Row {
    let parts = libcVersion.split(separator: ".").compactMap { Int($0) }
    let isKnown = parts.count >= 2 && (parts[0], parts[1]) >= (2, 27)
    return isKnown
      ? DoctorReport.Row(
        "attach, core without the agent", .fine, "the heap of glibc \(libcVersion) is known")
      : DoctorReport.Row(
        "attach, core without the agent", .limited,
        "the heap of C library \(libcVersion) is not known", mend: "use memgraph run")
  }

  private var _stacks: DoctorReport.Row {
    hasUnwinder
      ? DoctorReport.Row("run --stacks full", .fine, "libunwind can be loaded")
      : DoctorReport.Row(
        "run --stacks full", .limited,
        "there is no libunwind.so.8; stacks are taken by frame pointers",
        mend: "apt-get install libunwind8")
  }

  private var _names: DoctorReport.Row {
    debugFolders.isEmpty
      ? DoctorReport.Row(
        "names of code", .fine,
        "from the programs themselves; there are no debug files of the system's libraries")
      : DoctorReport.Row(
        "names of code", .fine,
        "from the programs themselves and from \(debugFolders.joined(separator: ", "))")
  }

  private var _cores: DoctorReport.Row {
    if coreLimit == 0 {
      return DoctorReport.Row(
        "core files", .limited, "this shell's programs leave none (ulimit -c is 0)",
        mend: "ulimit -c unlimited")
    }
    if corePattern.hasPrefix("|") {
      let program = corePattern.dropFirst().split(separator: " ").first ?? ""
      let isSystemd = program.hasSuffix("systemd-coredump")
      return DoctorReport.Row(
        "core files", .fine,
        "\(program) takes them"
          + (isSystemd ? "; coredumpctl dump PID -o FILE writes one for memgraph core" : ""))
    }
    return DoctorReport.Row("core files", .fine, "programs leave them as \(corePattern)")
  }

  private var _lint: DoctorReport.Row {
    missingFiles.contains("memgraph-lint")
      ? DoctorReport.Row(
        "lint", .limited, "memgraph-lint is not in \(folder)",
        mend: "build the package with a toolchain that ships SwiftSyntax in lib/swift/host")
      : DoctorReport.Row("lint", .fine, "memgraph-lint is beside the tool")
  }

  private var _characters: DoctorReport.Row {
    hasUTF8
      ? DoctorReport.Row("characters", .fine, "the locale's are UTF-8")
      : DoctorReport.Row(
        "characters", .limited, "the locale's are not UTF-8: arrows and bars are written in ASCII",
        mend: "export LC_ALL=C.UTF-8")
  }
}
