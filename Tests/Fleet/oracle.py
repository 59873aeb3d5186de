"""The answers computed again, in plain loops over what was written: no SQL, and nothing of the tool's."""

from collections import defaultdict


class Oracle:
    def __init__(self, lines, test="", program=""):
        runs = {}
        found = {}
        for line in lines:
            if test and line.get("test", "") != test or program and line.get("program", "") != program:
                continue
            run = runs.setdefault(line["run"], {"declared": None, "found": set(), "line": line})
            if line["line"] == "run":
                run["declared"] = line["findings"]
            else:
                run["found"].add(line["fingerprint"])
                found[line["run"], line["fingerprint"]] = line
        self.runs = runs
        self.by_fingerprint = defaultdict(list)
        for (run, fingerprint), line in sorted(found.items()):
            self.by_fingerprint[fingerprint].append(line)

    def totals(self):
        times = [run["line"]["time"] for run in self.runs.values()]
        return {
            "runs": len(self.runs),
            "cleanRuns": sum(1 for run in self.runs.values() if not run["found"] and run["declared"] == 0),
            "incompleteRuns": sum(1 for run in self.runs.values() if run["declared"] != len(run["found"])),
            "hosts": len({run["line"]["host"] for run in self.runs.values() if "host" in run["line"]}),
            "firstTime": min(times, default=""),
            "lastTime": max(times, default=""),
            "fingerprints": len(self.by_fingerprint),
        }

    def _common(self, lines):
        return {
            "fingerprint": lines[-1]["fingerprint"], "kind": lines[-1]["kind"], "type": lines[-1]["type"],
            "runs": len(lines), "hosts": len({line["host"] for line in lines if "host" in line}),
        }

    def new(self, commit="", day=""):
        if commit:
            start = min(name for name, run in self.runs.items() if run["line"].get("commit", "").startswith(commit))
        else:
            start = day.replace("-", "").replace(":", "")
        rows = []
        for lines in self.by_fingerprint.values():
            if any(line["run"] < start for line in lines):
                continue
            if commit and any(line.get("commit", "").startswith(commit) for line in lines):
                continue
            rows.append(
                self._common(lines)
                | {
                    "firstSeen": lines[0]["time"], "firstCommit": lines[0].get("commit", ""),
                    "retainedBytes": max(line["retainedBytes"] for line in lines), "cut": lines[-1].get("cut", ""),
                    "place": lines[-1].get("place", ""),
                }
            )
        return sorted(rows, key=lambda row: (-row["retainedBytes"], row["fingerprint"]))

    def growing(self):
        rows = []
        for all_lines in self.by_fingerprint.values():
            groups = defaultdict(list)
            for line in all_lines:
                groups[line.get("program", ""), line.get("test", "")].append(line)
            for (program, test), lines in groups.items():
                growing = [line for line in lines if line.get("growth", 0) > 0]
                if not growing and lines[-1]["count"] <= lines[0]["count"]:
                    continue
                rows.append(
                    {
                        "fingerprint": lines[-1]["fingerprint"], "kind": lines[-1]["kind"], "type": lines[-1]["type"],
                        "program": program, "test": test, "runs": len(lines), "growingRuns": len(growing),
                        "growth": max(line.get("growth", 0) for line in lines),
                        "growthBytes": max(line.get("growthBytes", 0) for line in lines),
                        "firstCount": lines[0]["count"], "lastCount": lines[-1]["count"], "place": lines[-1].get("place", ""),
                    }
                )
        return sorted(
            rows,
            key=lambda row: (
                -row["growthBytes"], -(row["lastCount"] - row["firstCount"]), row["fingerprint"], row["program"].encode(),
                row["test"].encode(),
            ),
        )

    def hosts(self):
        rows = [
            self._common(lines) | {"allHosts": self.totals()["hosts"], "lastSeen": lines[-1]["time"]}
            for lines in self.by_fingerprint.values()
        ]
        return sorted(rows, key=lambda row: (-row["hosts"], -row["runs"], row["fingerprint"]))

    def seen(self):
        rows = []
        for lines in self.by_fingerprint.values():
            places = {(line.get("program", ""), line.get("test", "")) for line in lines}
            later = sum(
                1 for name, run in self.runs.items()
                if name > lines[-1]["run"] and (run["line"].get("program", ""), run["line"].get("test", "")) in places
            )
            row = self._common(lines) | {
                "state": "gone" if later else "there", "firstSeen": lines[0]["time"],
                "firstCommit": lines[0].get("commit", ""), "lastSeen": lines[-1]["time"],
                "lastCommit": lines[-1].get("commit", ""), "runsWithout": later, "last": lines[-1]["run"],
            }
            del row["hosts"]
            rows.append(row)
        rows.sort(key=lambda row: row["fingerprint"])
        rows.sort(key=lambda row: row["last"], reverse=True)
        for row in rows:
            del row["last"]
        return rows

    def top(self):
        rows = [
            self._common(lines)
            | {
                "retainedBytes": max(line["retainedBytes"] for line in lines), "lastRetainedBytes": lines[-1]["retainedBytes"],
                "lastCount": lines[-1]["count"], "lastSeen": lines[-1]["time"], "cut": lines[-1].get("cut", ""),
                "advice": lines[-1].get("advice", ""), "place": lines[-1].get("place", ""),
            }
            for lines in self.by_fingerprint.values()
        ]
        return sorted(rows, key=lambda row: (-row["retainedBytes"], row["fingerprint"]))
