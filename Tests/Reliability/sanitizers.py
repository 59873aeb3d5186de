"""Fuzzers with the address sanitizer; the agent under the sanitizer of undefined behaviour, and under valgrind."""

import os
import pathlib
import re
import shutil
import subprocess

from harness import HERE, ROOT, Run, preloaded

CORPUS = ROOT / "Tests/Fuzz/Corpus"

#   fuzzer          corpus      largest input   most memory of one allocation, MB   what it is
FUZZERS = [
    ("FuzzSnapshot", "snapshot", 32 << 10, 8,  "the snapshot reader, and what writes a stripped copy"),
    ("FuzzReport",   "snapshot", 32 << 10, 32, "twelve verbs over what the snapshot reader lets through"),
    ("FuzzCore",     "core",     64 << 10, 32, "the core reader, up to a capture"),
    ("FuzzELF",      "elf",      32 << 10, 32, "executables and debug information"),
    ("FuzzJSON",     "json",     32 << 10, 8,  "known findings, configuration, reports"),
]


def build_fuzzers(machine):
    folder = ROOT / ".build/fuzz"
    done = subprocess.run([ROOT / "Tests/Fuzz/build.sh", folder], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"reliability: the fuzzers can't be built\n{done.stderr[-3000:]}")
    return folder


def try_fuzzers(machine, table, full, seed):
    """Each fuzzer for half a minute or twenty; what it finds is in `.build/fuzz`."""
    table.begin("Hostile files")
    folder = build_fuzzers(machine)
    seconds = 1200 if full else 30
    for name, corpus, largest, memory, what in FUZZERS:
        work = machine.new_folder("corpus")
        done = subprocess.run(
            [folder / name, f"-seed={seed}", f"-max_total_time={seconds}", f"-max_len={largest}", "-timeout=10",
             "-rss_limit_mb=2500", f"-malloc_limit_mb={memory}", f"-artifact_prefix={folder}/found-{name}-",
             work, CORPUS / corpus],
            capture_output=True, text=True, errors="replace",
            env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1"))
        said = re.search(r"Done (\d+) runs", done.stderr)
        covered = re.findall(r"cov: (\d+) ft: (\d+)", done.stderr)
        failures = []
        if done.returncode:
            failures = [line for line in done.stderr.splitlines() if "SUMMARY" in line or "Test unit written" in line] or [
                done.stderr[-300:]]
        runs = int(said[1]) if said else len(covered)
        table.add(what, runs, f"{covered[-1][0] if covered else '?'} edges covered", failures, f"{seed}",
                  f"`{name}`: files of up to {largest >> 10} KB, no allocation above {memory} MB, 10 s")
        shutil.rmtree(work)


MODES = ["threads", "forks", "spawns", "signals", "short-threads", "two-markers", "libraries", "deep", "many-blocks"]


def try_undefined(machine, table, full, seed):
    """The agent's C code, in the stress program, with each undefined operation a trap."""
    objects = []
    include = [f"-I{ROOT}/Sources/{target}/include" for target in ("CMemoryGraphHooks", "CMemoryGraphLayout")]
    for source in sorted((ROOT / "Sources/CMemoryGraphHooks").glob("*.c")) + sorted((ROOT / "Sources/CMemoryGraphLayout").glob("*.c")):
        objects.append(machine.folder / f"trap-{source.stem}.o")
        machine.compile(
            "clang", "-c", "-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize=undefined,local-bounds",
            "-fsanitize-trap=undefined,local-bounds", *include, source, "-o", objects[-1])
    program = machine.folder / "trapping"
    machine.compile(
        "swiftc", "-parse-as-library", machine.folder / "marker.swift", machine.folder / "stress.o", *objects, "-Xlinker",
        "--export-dynamic", "-o", program)
    wrong, runs, compared = [], 0, 0
    for mode in MODES:
        for number in range(seed, seed + (5 if full else 1)):
            out = machine.new_folder("out")
            environment = preloaded(machine, out)
            del environment["LD_PRELOAD"]
            run = Run(machine, [program, mode, number, 3], environment, out=out, seconds=300)
            if run.status != 23:
                wrong.append(f"{mode}, seed {number}: status {run.status}: {run.output[-100:]!r} {run.errors[-200:]!r}")
            more, differences = run.compare_counts()
            wrong += differences
            runs, compared = runs + 1, compared + more
            run.discard()
    table.add("the agent's C code with traps for undefined behaviour (clang's `undefined` and `local-bounds`)", runs,
              f"{compared} counts", wrong, f"{seed}", ", ".join(MODES))


def try_valgrind(machine, table, full, seed):
    """The host with the agent under memcheck, with the agent's own functions instead of valgrind's."""
    if not shutil.which("valgrind"):
        return table.skip("the agent under valgrind", "valgrind is not installed")
    # Valgrind doesn't know this compiler's debug information.
    program = machine.folder / "stripped"
    machine.compile("strip", "--strip-debug", machine.linked, "-o", program)
    wrong, runs = [], 0
    for mode in ["family"]:
        scale = 10 if full else 1
        out = machine.new_folder("out")
        log = machine.folder / "valgrind.log"
        environment = preloaded(machine, out)
        del environment["LD_PRELOAD"], environment["MEMORY_GRAPH_AT_EXIT"]
        run = Run(
            machine,
            ["valgrind", "--quiet", "--soname-synonyms=somalloc=nouserintercepts", "--error-exitcode=88", "--trace-children=no",
             f"--log-file={log}", program, mode, seed, scale], environment, out=out, seconds=300)
        runs += 1
        text = log.read_text(errors="replace") if log.exists() else ""
        if run.status != 23:
            wrong.append(f"{mode}: status {run.status}: {run.output[-100:]!r} {text[-600:]}")
        run.discard()
    table.add("the agent under valgrind's memcheck", runs, "no error", wrong, f"{seed}")


def try_all(machine, table, full, seed):
    table.begin("Sanitizers")
    try_undefined(machine, table, full, seed)
    try_valgrind(machine, table, full, seed)
