"""Whose eyes a snapshot is for, and who may ask for one."""

import os
import pathlib
import shutil
import subprocess

from faults import Served, whole
from harness import Run, Snapshot, under_run

SECRETS = {
    "a string of the program's": "kept-in-a-string-4711",
    "an argument": "given-as-an-argument-4711",
    "the environment": "given-in-the-environment-4711",
    "a dictionary's key": "key-4711",
}

PROGRAM = """
final class Account { let note: String; var entries: [String: Account] = [:]; init(_ note: String) { self.note = note } }
let account = Account(["kept", "in", "a", "string", "4711"].joined(separator: "-"))
account.entries[["key", "4711"].joined(separator: "-")] = Account("")
print(account.note.count, account.entries.count)
"""


def sockets(pid):
    """The inodes of the sockets that a process and its threads have."""
    found = set()
    for task in os.listdir(f"/proc/{pid}/task"):
        folder = f"/proc/{pid}/task/{task}/fd"
        for name in os.listdir(folder):
            try:
                target = os.readlink(f"{folder}/{name}")
            except OSError:
                continue
            if target.startswith("socket:["):
                found.add(target[8:-1])
    return found


def network_sockets(pid):
    rows = []
    for kind in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6", "packet", "netlink"):
        path = pathlib.Path(f"/proc/{pid}/net/{kind}")
        if path.exists():
            rows += [line.split() for line in path.read_text().splitlines()[1:]]
    own = sockets(pid)
    return [row for row in rows if own.intersection(row)]


def try_contents(machine, table):
    source, program = machine.folder / "main.swift", machine.folder / "secrets"
    source.write_text(PROGRAM)
    machine.compile("swiftc", source, "-o", program)
    out = machine.new_folder("out")
    run = Run(
        machine, under_run(machine, [program, SECRETS["an argument"]], out),
        {"SECRET": SECRETS["the environment"]}, out=out)
    wrong = run.left_behind()  # which also looks at the mode, 0600
    snapshot = Snapshot(out / "exit.mgraph")
    for what, secret in SECRETS.items():
        if snapshot.contains(secret):
            wrong.append(f"{what} is in the snapshot")
    if not snapshot.contains("Account"):
        wrong.append("the snapshot has no types")
    table.add(
        "strings, keys, arguments and environment of a program, sought in the bytes of its snapshot", 1, f"{len(SECRETS)} secrets, mode 0600", wrong)
    stripped, failed = out / "stripped.mgraph", []
    for extra, words in [((), [str(machine.folder)]), (("--names",), [str(machine.folder), "Account", "secrets"])]:
        subprocess.run([machine.tool, "strip", out / "exit.mgraph", "-o", stripped, *extra], check=True)
        failed += [f"{word} is in the stripped file" for word in words if Snapshot(stripped).contains(word)]
        failed += [f"before, there is no {word}" for word in words if not snapshot.contains(word)]
        if subprocess.run([machine.tool, "check", "--quiet", stripped]).returncode:
            failed.append("the stripped file is no snapshot")
    table.add("`memgraph strip`, and with `--names`", 2, "paths, types, modules", failed)
    run.discard()


def try_all(machine, table, full, seed):
    table.begin("Security")
    try_contents(machine, table)
    found = {}

    def look(host):
        found["host"] = network_sockets(host.pid)
        found["tool"] = network_sockets(host.run.process.pid)
        found["count"] = len(sockets(host.pid)) + len(sockets(host.run.process.pid))
        found["own"] = subprocess.run([machine.tool, "mark", str(host.pid), "own"], capture_output=True, text=True)
        if os.geteuid() == 0:
            # Where another user can read it.
            shutil.copy(machine.tool, machine.folder / "memgraph-for-all")
            found["other"] = subprocess.run(
                ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", machine.folder / "memgraph-for-all",
                 "mark", str(host.pid), "other"], capture_output=True, text=True)

    out = machine.new_folder("out")
    host = Served(machine, under_run(machine, [machine.stress, "serves", seed, 1], out), out=out, when_started=look)
    wrong = host.result.left_behind()
    if found.get("host") or found.get("tool"):
        wrong.append(f"sockets of the network: {found}")
    if not found.get("count"):
        wrong.append("the sockets of the agent and the tool were not found")
    table.add("sockets of the network in a host under `memgraph run`, and in the tool", 1,
              f"{found.get('count')} sockets, none of the network", wrong)
    if "other" in found:
        wrong = []
        if found["own"].returncode != 0 or whole(out / "own.mgraph"):
            wrong.append(f"the same user's mark: {found['own']}")
        if found["other"].returncode != 4 or (out / "other.mgraph").exists():
            wrong.append(f"another user's mark was taken: {found['other']}")
        if "takes none of this user" not in found["other"].stderr:
            wrong.append(f"it says: {found['other'].stderr}")
        table.add("`memgraph mark` of another user", 1, "refused; the same user's is taken", wrong)
    else:
        table.skip("`memgraph mark` of another user", "only root can become one")
    host.result.discard()
