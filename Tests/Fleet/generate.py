"""Writes made-up records, thousands of runs of them, and says what is in them: the truth that the answers are held against.

    python3 generate.py FOLDER COUNT [SEED]

The truth is what the lines were made of, never read back from the files.
"""

import json
import os
import random
import sys
import time

START = 1_798_761_600  # 2027-01-01

# Names as programs may have them, and some that mean harm.
TYPES = [
    "App.CallViewController", "App.RTCClient", "App.Box<String>", "App.Cache", "App.Größe", "App.模型", "App.\U0001f9a8",
    'App.Quote"d', "App.Back\\slash", "<script>alert(1)</script>", "App.A&B", "App.Tab\tbed", "App.Line\nbroken",
    "App.\u202eleft", "App.'; DROP TABLE lines; --", "App.%s{}$1", "App." + "Long" * 60,
]
TESTS = ["CallTests", "FeedTests", "Sensor Tests", "Näme/with, comma", "", "O'Hara"]
PROGRAMS = ["App", "Server", "Tool.xctest"]


def _time(second):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))


class Truth:
    """What was written: whole lines as they are meant, and where the damaged ones are."""

    def __init__(self):
        self.lines = []
        self.damaged = []
        self.total = 0


def _fingerprints(source):
    """Findings with a life: from a commit on, to another, on some tests."""
    found = []
    for number in range(120):
        first = source.randrange(0, 40)
        found.append(
            {
                "fingerprint": f"{source.getrandbits(48):012x}",
                "kind": source.choice(["leak", "leak", "leak", "abandoned", "zombie"]),
                "type": source.choice(TYPES),
                "first": first,
                "last": source.choice([first, first + 3, first + 10, 99]),
                "tests": source.sample(TESTS, source.randrange(1, 4)),
                "rate": source.choice([0.05, 0.3, 0.9]),
                "objects": source.randrange(1, 50),
                "rise": source.choice([0, 0, 0, 1, 3]),
                "grows": source.random() < 0.3,
                "bytes": source.choice([16, 480, 4_096, 1 << 20, 5 << 30]),
                "cut": source.choice([None, "App.RTCClient.onConnectionChange -> closure", 'field "x" -> <b>']),
            }
        )
    return found


def _damage(source, line, number):
    """A line as a bad disk or a writer of another kind leaves it."""
    text = line.encode()
    return [
        text[: source.randrange(1, len(text) - 1)],
        text[:20] + b"\xff\xfe" + text[20:],
        b"{}",
        b"[1, 2]",
        b"   ",
        b'{"schema": "memory-graph/record/1", "line": "run"}',
        line.replace('"memory-graph/record/1"', '"memory-graph/record/2"').encode(),
        line.replace('"time":"2', '"time":"1').encode(),
        line.replace('"tool":', '"tool":"twice","tool":').encode(),
        line.replace('"line":"', '"line":"x').encode(),
        text + b"}",
        b"\x00" * 40,
        b'{"a":' * 3_000,
        line.replace('"tool":"0.1.0"', '"tool":"\\ud800"').encode(),
        line.replace('"tool":"0.1.0"', '"tool":NaN').encode(),
    ][number % 15]


def generate(folder, count, seed=10):
    """Writes `count` records, and files that are none; returns the truth."""
    source = random.Random(seed)
    truth = Truth()
    fingerprints = _fingerprints(source)
    commits = [f"{source.getrandbits(160):040x}" for _ in range(50)]
    hosts = [f"host-{number}" for number in range(12)] + [""]
    damage = 0
    names = set()
    for number in range(count):
        # Commits come in order, and some are run again later.
        second = START + number * 60 * 86_400 // count + source.randrange(0, 3_600)
        place = min(49, number * 50 // count)
        commit = max(0, place - source.choice([0, 0, 0, 0, 1, 5]))
        run = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(second))}-{source.getrandbits(48):012x}"
        test = source.choice(TESTS)
        common = {
            "schema": "memory-graph/record/1", "line": "run", "run": run, "time": _time(second),
            "commit": commits[commit] if source.random() < 0.97 else "", "host": source.choice(hosts), "test": test,
            "program": source.choice(PROGRAMS), "tool": "0.1.0",
        }
        common = {name: value for name, value in common.items() if value != ""}
        has_marks = source.random() < 0.5
        findings = []
        for known in fingerprints:
            if not known["first"] <= commit <= known["last"] or test not in known["tests"] or source.random() > known["rate"]:
                continue
            objects = known["objects"] + known["rise"] * commit
            finding = common | {
                "line": "finding", "fingerprint": known["fingerprint"], "kind": known["kind"], "type": known["type"],
                "count": objects, "bytes": objects * known["bytes"],
                "retainedBytes": objects * known["bytes"] + source.randrange(0, 1_000),
            }
            if has_marks:
                growth = source.randrange(1, 9) if known["grows"] else 0
                finding |= {"growth": growth, "growthBytes": growth * known["bytes"]}
            if known["cut"]:
                finding |= {"cut": known["cut"], "advice": "capture [weak self]", "place": f"Call.swift:{objects}"}
            findings.append(finding)
        live = source.randrange(100, 100_000)
        lines = [
            common | {
                "marks": 5 if has_marks else 1, "findings": len(findings), "liveObjects": live, "liveBytes": live * 64,
                "leakedObjects": len(findings), "leakedBytes": len(findings) * 64,
            }
        ] + findings
        day = "date=" + common["time"][:10]
        os.makedirs(f"{folder}/{day}", exist_ok=True)
        path = f"{day}/{run}.jsonl"
        data = b""
        for place, line in enumerate(lines, 1):
            text = json.dumps(line, ensure_ascii=source.random() < 0.5, separators=(",", ":"))
            truth.total += 1
            if source.random() < 0.004:
                data += _damage(source, text, damage) + b"\n"
                truth.damaged.append((path, place))
                damage += 1
            else:
                data += text.encode() + b"\n"
                truth.lines.append(line)
        if source.random() < 0.01:
            data = data[:-1]  # The last line without its end is whole all the same.
        with open(f"{folder}/{path}", "wb") as file:
            file.write(data)
        names.add(path)
        if source.random() < 0.002:
            # The same run under another name: it counts once.
            copy = f"{day}/copy-{run}.jsonl"
            with open(f"{folder}/{copy}", "wb") as file:
                file.write(data)
            truth.total += len(lines)
            for file_name, place in [entry for entry in truth.damaged if entry[0] == path]:
                truth.damaged.append((copy, place))
    # What is no record: work that isn't finished, other files, other folders.
    day = sorted(os.listdir(folder))[0]
    for name in [f"{day}/.hidden.jsonl", f"{day}/_work.jsonl", f"{day}/x.jsonl.partial-1", f"{day}/README", "loose.jsonl"]:
        with open(f"{folder}/{name}", "w") as file:
            file.write("nothing of ours\n")
    os.makedirs(f"{folder}/date=soon", exist_ok=True)
    with open(f"{folder}/date=soon/x.jsonl", "w") as file:
        file.write("nothing of ours\n")
    # An empty file is a record that lost all.
    with open(f"{folder}/{day}/empty.jsonl", "w"):
        pass
    truth.damaged.append((f"{day}/empty.jsonl", 0))
    truth.total += 1
    truth.damaged.sort()
    truth.commits = commits
    return truth


if __name__ == "__main__":
    written = generate(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 10)
    print(f"{written.total} lines, {len(written.damaged)} of them damaged; commits such as {written.commits[25][:12]}")
