"""Runs all blocks of the README in a clean root, as one who has just cloned the project, and tells of each command."""

import pathlib
import sys

import guides

# Of what a command printed: enough to see what it said, not all that a build says.
MOST_LINES = 60


def tell(command, status, printed):
    print("\n".join(f"$ {line}" for line in command.split("\n")))
    while printed and not printed[-1]:
        printed = printed[:-1]
    if len(printed) > MOST_LINES:
        print("\n".join(printed[: MOST_LINES // 2]))
        print(f"[{len(printed) - MOST_LINES} lines]")
        printed = printed[-MOST_LINES // 2 :]
    print("\n".join(printed + ([] if status == 0 else [f"[exit status {status}]"])), flush=True)


def main():
    root = pathlib.Path(sys.argv[1])
    home = pathlib.Path("/root")
    place = guides.Place(
        work=home / "memory-graph",
        notes=home / "notes",
        environment={
            "HOME": str(home),
            "LC_ALL": "C.UTF-8",
            "PATH": "/opt/swift/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        },
        root=root,
        enter=("/usr/sbin/chroot", str(root)),
    )
    text = place.outside(place.work / "README.md").read_text()
    outcome = guides.run_at(place, text, is_slow=True, tell=tell)
    for failure in outcome.failures:
        print(f"test-readme: {failure}", file=sys.stderr)
    for line, reason in outcome.skipped:
        print(f"test-readme: not run: line {line}: {reason}")
    print(f"test-readme: {outcome.ran} blocks, {outcome.commands} commands, {outcome.files} files; {len(outcome.skipped)} blocks not run")
    sys.exit(1 if outcome.failures else 0)


if __name__ == "__main__":
    main()
