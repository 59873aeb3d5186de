"""The blocks of a Markdown document that a reader would paste, and what stands beside them on how to run them.

A shell block is indented by four spaces. Where it has lines that begin with "$ ", those are the commands and the others are
what they print; else every line is a command. A fenced block of another language is a file, or is only to be looked at.

A comment right before a block says what can't be seen in it:

    <!-- file: Server.swift -->         the block is the text of this file
    <!-- with: PID=$!, Server=VideoCall -->    words of the block that stand for something, and what for here
    <!-- slow: REASON -->               runs only where slow blocks are asked for
    <!-- instead: COMMAND -->           runs in the place of a slow block where they are not
    <!-- first: COMMAND -->             runs before the block: what the reader has done already
    <!-- needs: COMMAND -->             runs where the command succeeds
    <!-- not run: REASON -->            never runs
"""

import dataclasses
import re

DIRECTIVE = re.compile(r"^<!-- *(file|with|first|slow|instead|needs|not run): *(.*?) *-->$")
SHELL = ("sh", "bash", "console")


class Malformed(Exception):
    """A document that can't be taken apart, with the line."""


@dataclasses.dataclass
class Command:
    """A command, and the lines that the document shows of what it prints."""

    text: str
    line: int
    shown: list


@dataclasses.dataclass
class Block:
    line: int
    # "shell", or the word after the fence.
    language: str
    lines: list
    # From the word before the colon to what was said.
    said: dict

    def commands(self):
        """The commands of a shell block, in order."""
        has_prompts = any(line.startswith("$ ") for line in self.lines)
        found, is_open = [], False
        for number, line in enumerate(self.lines):
            if is_open:
                found[-1].text += "\n" + line
            elif has_prompts and not line.startswith("$ "):
                if not found:
                    raise Malformed(f"line {self.line + number}: output before the first command")
                found[-1].shown.append(line)
                continue
            elif not line.strip():
                continue
            else:
                text = line.removeprefix("$ ") if has_prompts else line
                found.append(Command(text, self.line + number, []))
            is_open = found[-1].text.endswith("\\")
        for command in found:
            for word, value in self.substitutions():
                command.text = command.text.replace(word, value)
        return found

    def substitutions(self):
        pairs = [pair.partition("=") for pair in self.said.get("with", "").split(", ") if pair]
        return [(word, value) for word, _, value in pairs]


def blocks(text):
    """The blocks of a document, in order."""
    found, said = [], {}
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        if directive := DIRECTIVE.match(line):
            said[directive[1]] = directive[2]
            number += 1
            continue
        if line.startswith("```"):
            end = next((n for n in range(number + 1, len(lines)) if lines[n].startswith("```")), None)
            if end is None:
                raise Malformed(f"line {number + 1}: a fence that nothing closes")
            language = line[3:].strip()
            language = "shell" if language in SHELL else language
            found.append(Block(number + 2, language, lines[number + 1 : end], said))
            said, number = {}, end + 1
            continue
        if line.startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            end = number
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            body = [line[4:].rstrip() for line in lines[number:end]]
            while not body[-1]:
                body.pop()
            found.append(Block(number + 1, "shell", body, said))
            said, number = {}, end
            continue
        if line.strip() and said:
            raise Malformed(f"line {number + 1}: a comment on how to run a block, and no block after it")
        number += 1
    if said:
        raise Malformed("the last comment on how to run a block has no block after it")
    return found


def same(shown, printed):
    """Whether a line of a document is a line that was printed. "..." stands for anything."""
    pattern = ".*".join(re.escape(piece) for piece in _steady(shown).split("..."))
    return re.fullmatch(pattern, _steady(printed)) is not None


def _steady(line):
    """A line without what differs from run to run: addresses, numbers of processes and tasks, times."""
    line = re.sub(r"0x[0-9a-f]+", "0x…", line.rstrip())
    line = re.sub(r"\b(process|thread|Task) \d+", r"\1 …", line)
    return re.sub(r"\b\d+(\.\d+)? (ms|s)\b", r"… \2", line)


def first_missing(shown, printed):
    """The first line of a document that was not printed after those before it; nil if there is none. Lines may be left out."""
    rest = iter(printed)
    for line in shown:
        if line.strip() in ("", "..."):
            continue
        if not any(same(line, candidate) for candidate in rest):
            return line
    return None
