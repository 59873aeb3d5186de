"""What is found: nothing that is alive, and all that was planted."""

import json
import os
import re
import subprocess

from goals import goal, note
from rounds import Failed, result, run


def measure(tools, folder, count):
    """Objects that enums of two payloads hold, bytes of Foundation's, and cycles that are leaked."""
    command = [tools["memgraph"], "run", "--quiet", "--out", folder, "--", tools["workload"], "fidelity", str(count)]
    planted = int(result(run(command)["out"])["planted"]) * 2
    file = os.path.join(folder, "fidelity.mgraph")
    found = json.loads(run([tools["memgraph"], "leaks", "--format", "json", file], good=(0, 1))["out"])
    os.remove(file)
    leaked = found["totals"]["leaked"]
    cycles = sum(cost["count"] for name, cost in leaked["byType"].items() if "PlantedCycle" in name)
    others = leaked["count"] - cycles
    goal("F1", f"live objects called leaked, of {count:,} in enums of two payloads and 100,000 bytes of Data", others, 0, "")
    goal("F1", "objects of planted cycles that are found", cycles, planted, "", least=True)
    if tools.get("lsan"):
        out = subprocess.run([tools["lsan"], "fidelity", str(count)], capture_output=True, text=True, check=False,
                             env={**os.environ, "LSAN_OPTIONS": "exitcode=0", "SWIFT_BACKTRACE": "enable=no"})
        told = re.search(r"SUMMARY: \w+: (\d+) byte\(s\) leaked in (\d+) allocation", out.stderr)
        if out.returncode:
            raise Failed(f"LeakSanitizer: status {out.returncode}")
        blocks = int(told.group(2)) if told else 0
        note(f"LeakSanitizer calls {blocks:,} blocks leaked in the program of F1, in which {planted:,} are.")
