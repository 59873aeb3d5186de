"""What births and deaths cost the program: `memgraph run` as it comes, beside heaptrack and LeakSanitizer."""

import os
import re
import shutil

from goals import control, goal, missing, ratio_goal
from rounds import Failed, Series, median, result, run

# Workload, scale, threads, by size of the run.
WORKLOADS = {
    "itrees 1T": ("itrees", 40, 1),
    "mix 1T": ("mix", 4, 1),
    "trees 1T": ("trees", 20, 1),
    "live 1T": ("live", 16, 1),
    "itrees 2T": ("itrees", 30, 2),
    "mix 2T": ("mix", 3, 2),
}


def read(run):
    told = result(run["out"])
    return {"ns": int(told["ns"]), "sum": told["sum"], "resident": int(told.get("resident", 0))}


def commands(tools, folder, name):
    workload, scale, threads = WORKLOADS[name]
    arguments = [workload, str(scale), str(threads)]
    bare = [tools["workload"], *arguments]
    # LeakSanitizer calls live data of Foundation leaked; that ends the program with 23.
    quiet = {"LSAN_OPTIONS": "exitcode=0"}
    made = {
        "bare": {"command": bare},
        "bare again": {"command": bare},
        "memgraph": {"command": [tools["memgraph"], "run", "--quiet", "--out", folder, "--", *bare]},
        "full stacks": {
            "command": [tools["memgraph"], "run", "--quiet", "--stacks", "full", "--out", folder, "--", *bare]},
        "sampled": {
            "command": [tools["memgraph"], "run", "--quiet", "--sample", "512K", "--out", folder, "--", *bare]},
    }
    if tools.get("jemalloc"):
        # Its profiler at the same interval, 2^19 bytes; it is an allocator of its own, too.
        made["jemalloc, profiling"] = {
            "command": bare,
            "env": {"LD_PRELOAD": tools["jemalloc"], "MALLOC_CONF": "prof:true,prof_active:true,lg_prof_sample:19"}}
    if name != "mix 1T":
        for other in ("full stacks", "sampled", "jemalloc, profiling"):
            made.pop(other, None)
    if tools.get("heaptrack"):
        made["heaptrack --raw"] = {
            "command": [tools["heaptrack"], "--raw", "-o", os.path.join(folder, "heaptrack"), *bare]}
    if tools.get("lsan"):
        made["LeakSanitizer"] = {"command": [tools["lsan"], *arguments], "env": quiet}
    return made


def measure(tools, rounds, folder):
    taken = {}
    for name in WORKLOADS:
        series = Series(rounds)
        series.measure(commands(tools, folder, name), read)
        for file in os.listdir(folder):
            os.remove(os.path.join(folder, file))
        sums = {figure["sum"] for figures in series.figures.values() for figure in figures}
        if len(sums) != 1:
            raise Failed(f"{name}: not the same answer under all tools: {sums}")
        control(name, series.ratios("bare again", "bare", "ns"))
        taken[name] = series
        for other in series.figures:
            if other.startswith("bare"):
                continue
            values = series.ratios(other, "bare", "ns")
            print(f"                {name}, {other}: {median(values):.2f}x", flush=True)

    def ratios(name, tool="memgraph", base="bare"):
        return taken[name].ratios(tool, base, "ns")

    def beside(goal_name, name, tool, limit):
        if tool in taken[name].figures:
            ratio_goal(goal_name, f"{name}, time beside {tool}", ratios(name, base=tool), limit)
        else:
            missing(goal_name, f"{name}, time beside {tool}", f"{tool} is not here")

    ratio_goal("T1", "mix 1T, beside the bare program", ratios("mix 1T"), 1.75)
    beside("T1", "mix 1T", "heaptrack --raw", 0.5)
    for name in ("itrees 1T", "live 1T"):
        ratio_goal("T2", f"{name}, beside the bare program", ratios(name), 1.6)
        beside("T2", name, "heaptrack --raw", 0.45)
        beside("T2", name, "LeakSanitizer", 0.35)
    two = median(ratios("itrees 2T"))
    ratio_goal("T3", "itrees 2T, beside the bare program", ratios("itrees 2T"), 1.6)
    goal("T3", "itrees, ratio with two threads beside that with one", two / median(ratios("itrees 1T")), 1.25)
    ratio_goal("T4", "trees 1T (163,838 stacks), beside the bare program", ratios("trees 1T"), 4)
    beside("T4", "trees 1T", "heaptrack --raw", 0.4)
    ratio_goal("T", "mix 1T, full stacks, beside the bare program", ratios("mix 1T", "full stacks"), 2.5)
    ratio_goal("T7", "mix 1T, sampled at 512 KiB, beside the bare program", ratios("mix 1T", "sampled"), 1.10)
    if "jemalloc, profiling" in taken["mix 1T"].figures:
        ratio_goal("T7", "mix 1T, sampled at 512 KiB, time beside jemalloc's profiler at 512 KiB",
                   ratios("mix 1T", "sampled", "jemalloc, profiling"), 1.08)
    else:
        missing("T7", "mix 1T, sampled at 512 KiB, time beside jemalloc's profiler", "no jemalloc with its profiler is here")
    ratio_goal("T8", "live 1T, resident memory beside the bare program",
               taken["live 1T"].ratios("memgraph", "bare", "resident"), 1.5)
    alive = 65_535 * WORKLOADS["live 1T"][1]
    more = [(a - b) / alive for a, b in zip(taken["live 1T"].values("memgraph", "resident"),
                                            taken["live 1T"].values("bare", "resident"))]
    goal("T8", "live 1T, memory of the agent for each live object of 32 bytes", median(more), 32, "bytes", spread=more)


def captures(program):
    """Frames and nanoseconds of each way to take a stack, as bench/stacks.c tells them."""
    lines = [line.split() for line in run([program])["out"].splitlines()]
    return {name: (int(frames), float(nanoseconds)) for name, frames, nanoseconds in lines}


def measure_stacks(tools, rounds):
    """What one stack of some 25 frames costs, found again: with frame pointers, without, and by the C runtime's unwinder."""
    pointers = [captures(tools["stacks"]) for _ in range(rounds)]
    none = [captures(tools["stacks-without"]) for _ in range(rounds)]

    def each(taken, way):
        return [nanoseconds / frames for frames, nanoseconds in (figures[way] for figures in taken)]

    fast = each(pointers, "fast")
    goal("T9", "a fast stack, with frame pointers, for each frame", median(fast), 1.5, "ns", spread=fast)
    full = each(none, "full")
    goal("T9", "a full stack, without frame pointers, for each frame", median(full), 10, "ns", spread=full)
    slower = [figures["_Unwind_Backtrace"][1] / figures["fast"][1] for figures in pointers]
    goal("T9", "a fast stack, how many times _Unwind_Backtrace takes", median(slower), 100, spread=slower, least=True)
    goal("T9", "frames that a fast stack has fewer than unw_backtrace, with frame pointers",
         abs(pointers[0]["unw_backtrace"][0] - pointers[0]["fast"][0]), 3, "")
    goal("T9", "frames that a full stack has fewer than unw_backtrace, without frame pointers",
         abs(none[0]["unw_backtrace"][0] - none[0]["full"][0]), 3, "")


def instructions(tools, folder, command, env=None):
    """Instructions of a whole run by callgrind, and the calls of malloc and free in it are the workload's to know."""
    out = os.path.join(folder, "callgrind.out")
    # valgrind 3.19 ends at debug information of version 5.
    run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command], env=env)
    with open(out, encoding="utf-8") as file:
        total = re.search(r"^(?:summary|totals): (\d+)", file.read(), re.MULTILINE)
    os.remove(out)
    return int(total.group(1))


def measure_instructions(tools, folder):
    if not shutil.which("valgrind"):
        missing("T5", "linked and not started, instructions", "valgrind is not here")
        missing("T6", "instructions an allocation and its end", "valgrind is not here")
        return
    preload = {"LD_PRELOAD": tools["preload"], "MEMORY_GRAPH_STACKS": "fast", "MEMORY_GRAPH_OUT": folder}
    counts = {"loop": 1_000_000, "itrees": 131_071 + 4 * 32_767}
    scales = {"loop": "1", "itrees": "4"}
    for name in counts:
        bare = instructions(tools, folder, [tools["counted"], name, scales[name]])
        linked = instructions(tools, folder, [tools["linked"], name, scales[name]])
        goal("T5", f"{name}, linked and not started, instructions for each allocation and its end",
             (linked - bare) / counts[name], 12, "")
        goal("T5", f"{name}, linked and not started, all instructions beside the bare program",
             linked / bare, 1.035 if name == "loop" else 1.02)
        tracked = instructions(tools, folder, [tools["counted"], name, scales[name]], env=preload)
        goal("T6", f"{name}, tracked, instructions for each allocation and its end",
             (tracked - bare) / counts[name], 330, "")
        sampled = instructions(tools, folder, [tools["counted"], name, scales[name]],
                               env={**preload, "MEMORY_GRAPH_SAMPLE": "512K"})
        goal("T7", f"{name}, sampled at 512 KiB, instructions for each allocation and its end",
             (sampled - bare) / counts[name], 40, "")
