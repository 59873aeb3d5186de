"""The host is never harmed: stress programs under the agent end and say what they do without it, and count what it counts."""

from harness import Run, Trouble, preloaded, under_run

#   mode               scale: quick, full   seeds: quick, full   what it is
MODES = [
    ("threads",          3, 10,  1, 5,  "64 threads that allocate, and free what another one allocated"),
    ("soak",             3, 10,  1, 5,  "the same beside 16 threads that stand still for no mark"),
    ("exec",             1, 1,   2, 20, "exec in the middle of it"),
    ("forks",            3, 20,  1, 5,  "forks without exec, which allocate and free what is their parent's"),
    ("spawns",           3, 20,  1, 3,  "fork and exec, posix_spawn, system"),
    ("signals",          4, 20,  1, 5,  "SIGPROF at 1 kHz, and a storm of SIGCHLD"),
    ("libraries",        4, 20,  1, 3,  "dlopen and dlclose on four threads"),
    ("deep",             3, 10,  1, 3,  "eight stacks with 7 MB in one frame, each the only holder of a block"),
    ("short-threads",    6, 40,  1, 5,  "threads that begin and end during marks"),
    ("two-markers",      6, 40,  1, 5,  "marks from two threads at once"),
    ("often",            20, 0,  1, 1,  "a mark each 10 ms, or as soon as the last one is done"),
    ("many-blocks",      2, 5,   1, 2,  "400,000 blocks, half of them freed and made again"),
    ("overflow",         1, 1,   1, 5,  "a stack that overflows"),
    ("overflow-handled", 1, 1,   1, 5,  "a stack that overflows, with a handler on another stack"),
    ("exit",             1, 1,   3, 60, "exit while another thread takes a mark"),
    ("_exit",            1, 1,   3, 60, "_exit while another thread takes a mark"),
    ("killed",           1, 1,   3, 60, "SIGKILL while another thread takes a mark"),
]

# The marks of these come to an end that nobody can tell beforehand.
UNCOUNTED = ("exit", "_exit", "killed")

# What `memgraph run` itself says of these on standard error, beside what the program does.
SAYS = {"exec": "left by _exit with status 9, or became another program"}


def compare(machine, mode, seed, scale, way, extra=(), said=None, bare=None):
    """Runs a mode alone and under the agent. How many numbers were compared, and what is wrong."""
    program = machine.linked if way == "linked" else machine.stress
    command = [program, mode, seed, scale]
    alone = bare or Run(machine, [machine.stress, mode, seed, scale])
    out = machine.new_folder("out")
    if way == "run":
        run = Run(machine, under_run(machine, command, out, *extra), out=out, seconds=600)
    else:
        environment = preloaded(machine, out)
        if way == "linked":
            del environment["LD_PRELOAD"]
        run = Run(machine, command, environment, out=out, seconds=600)
    wrong = []
    if run.hung:
        wrong.append(f"seed {seed}, {way}: it did not end")
    if run.status != alone.status:
        wrong.append(f"seed {seed}, {way}: status {run.status} instead of {alone.status}")
    if run.output != alone.output:
        wrong.append(f"seed {seed}, {way}: other output: {run.output[-200:]!r}")
    errors = [line for line in run.errors.splitlines() if not (said and said in line)]
    if mode in UNCOUNTED:
        # What a mark that the end cuts off says is true.
        errors = [line for line in errors if "memgraph: " not in line and "memory-graph: " not in line]
    if errors and not alone.errors:
        wrong.append(f"seed {seed}, {way}: on standard error: {errors[0]}")
    if said and said not in run.errors:
        wrong.append(f"seed {seed}, {way}: it does not say: {said}")
    wrong += [f"seed {seed}, {way}: {text}" for text in run.left_behind()]
    compared, differences = run.compare_counts()
    wrong += [f"seed {seed}, {way}: {text}" for text in differences]
    marks = len(list(out.glob("*.mgraph")))
    run.discard()
    alone.discard()
    return compared, marks, wrong


def try_modes(machine, table, full, first_seed, only=None):
    table.begin("The host is never harmed")
    for mode, quick_scale, full_scale, quick_seeds, full_seeds, what in MODES:
        if only and mode not in only:
            continue
        scale = (full_scale if full else quick_scale) or quick_scale
        if mode == "often" and full:
            scale = 400  # more than a minute: a mark with a snapshot takes longer than 10 ms
        seeds = range(first_seed, first_seed + (full_seeds if full else quick_seeds))
        ways = ["run", "linked"] if mode != "many-blocks" else ["run"]
        runs = compared = marks = 0
        wrong = []
        for seed in seeds:
            for way in ways:
                said = SAYS.get(mode) if way == "run" else None
                more, taken, failed = compare(machine, mode, seed, scale, way, said=said)
                runs, compared, marks, wrong = runs + 1, compared + more, marks + taken, wrong + failed
        table.add(
            what, runs, f"{marks:,} snapshots, {compared:,} counts", wrong, f"{seeds[0]}–{seeds[-1]}",
            f"`--only {mode}`")


def try_tasks(machine, table, full, seed):
    table.begin("The host is never harmed")
    scale = 5
    wrong, compared, marks = [], 0, 0
    runs = 4 if full else 1
    for _ in range(runs):
        alone = Run(machine, [machine.tasks, seed, scale])
        out = machine.new_folder("out")
        run = Run(machine, under_run(machine, [machine.tasks, seed, scale], out), out=out, seconds=600)
        if (run.status, run.output) != (alone.status, alone.output):
            wrong.append(f"status {run.status}, output {run.output[-200:]!r}")
        wrong += run.left_behind()
        more, differences = run.compare_counts()
        marks += len(list(out.glob("*.mgraph")))
        compared, wrong = compared + more, wrong + differences
        run.discard()
        alone.discard()
    table.add("10,000 tasks that wait, each with an object, beside others that run", runs,
              f"{marks:,} snapshots, {compared:,} counts", wrong, "", "`--only tasks`")


def try_budget(machine, table, full, seed):
    """Past its budget the agent says so, and the snapshot still has every block: the allocator's heap completes it."""
    table.begin("The host is never harmed")
    limits = ["64K", "2M", "8M"] if not full else ["1K", "64K", "1M", "2M", "4M", "8M", "16M"]
    wrong, compared, marks = [], 0, 0
    for limit in limits:
        more, taken, failed = compare(
            machine, "many-blocks", seed, 2, "run", ["--table-memory", limit],
            said="the agent's tables have reached their limit")
        compared, marks, wrong = compared + more, marks + taken, wrong + failed
    table.add("the agent's tables out of memory (`run --table-memory`): says so, loses no block", len(limits),
              f"{marks:,} snapshots, {compared:,} counts", wrong, f"{seed}", "limits " + ", ".join(limits))


def soak(machine, table, seconds, seed):
    """Marks under load for so long, in runs of 20 marks each: the last one has ended soon after its time even where a mark takes
    ten seconds."""
    import time

    table.begin("The host is never harmed")
    end = time.monotonic() + seconds
    runs = compared = marks = 0
    wrong = []
    while time.monotonic() < end:
        out = machine.new_folder("out")
        run = Run(machine, under_run(machine, [machine.stress, "soak", seed + runs, 20], out), out=out, seconds=900)
        if run.hung or run.status != 23:
            wrong.append(f"seed {seed + runs}: status {run.status}: {run.output[-200:]!r}")
        more, differences = run.compare_counts()
        wrong += differences + run.left_behind()
        compared, marks, runs = compared + more, marks + len(list(out.glob("*.mgraph"))), runs + 1
        run.discard()
    table.add(f"a soak of {seconds // 60} minutes: marks under the load of 80 threads", runs,
              f"{marks:,} snapshots, {compared:,} counts", wrong, f"{seed}–{seed + runs - 1}", "`--soak SECONDS`")
