"""Tests of what runs the blocks: a wrong document must fail."""

import contextlib
import io
import sys
import unittest
from unittest import mock

import guides


class WrongDocuments(unittest.TestCase):
    def fails(self, text, *words):
        failures = "\n".join(guides.run(text).failures)
        self.assertTrue(failures, f"passed: {text!r}")
        for word in words:
            self.assertIn(word, failures)

    def test_a_command_that_fails(self):
        self.fails("Text.\n\n    true\n    false\n", "line 4: false", "exit status 1")

    def test_an_unknown_option_of_the_tool(self):
        self.fails("    memgraph leaks --no-such-option x.mgraph\n", "exit status 2")

    def test_an_unreadable_input(self):
        self.fails("    memgraph leaks not-there.mgraph\n", "exit status 3")

    def test_output_that_is_another(self):
        self.fails("    $ echo 12 objects\n    13 objects\n", "not printed: 13 objects")

    def test_output_in_another_order(self):
        self.fails("    $ printf 'a\\nb\\n'\n    b\n    a\n", "not printed: a")

    def test_output_that_is_printed_once(self):
        self.fails("    $ echo a\n    a\n    a\n", "not printed: a")

    def test_a_command_that_ends_the_shell(self):
        self.fails("    exit 0\n", "ended the shell")

    def test_swift_of_which_nothing_is_said(self):
        self.fails("```swift\nlet a = 1\n```\n", "a block of Swift")

    def test_a_comment_without_its_block(self):
        self.fails("<!-- not run: it takes long -->\n\nText.\n\n    false\n", "no block after it")
        self.fails("<!-- slow: it takes long -->\n", "no block after it")

    def test_a_fence_that_stays_open(self):
        self.fails("```swift\nlet a = 1\n", "nothing closes")

    def test_output_before_a_command(self):
        self.fails("    a\n    $ echo a\n", "output before")


class RightDocuments(unittest.TestCase):
    def outcome(self, text, **options):
        outcome = guides.run(text, **options)
        self.assertEqual(outcome.failures, [])
        return outcome

    def test_what_is_shown_may_leave_lines_out(self):
        outcome = self.outcome("    $ seq 5\n    2\n    ...\n    4\n    $ echo done\n    done\n")
        self.assertEqual((outcome.ran, outcome.commands), (1, 2))

    def test_a_line_may_be_shown_in_part(self):
        self.outcome("    $ echo 3 objects in Model.swift\n    3 objects ...\n    $ echo 3 objects\n    ... objects\n")
        self.assertTrue(guides.run("    $ echo 4 objects\n    3 objects ...\n").failures)

    def test_addresses_and_times_differ(self):
        self.outcome("    $ echo 0x7f00, 12.5 ms\n    0x8f10, 3 ms\n")

    def test_blocks_are_one_session(self):
        self.outcome("    mkdir a && cd a\n    word=b\n\nThen\n\n    $ echo $word > f; ls; basename $PWD\n    f\n    a\n")

    def test_a_file_lies_where_the_reader_is(self):
        text = "    mkdir -p a; cd a\n\n<!-- file: s/x.txt -->\n```text\none\n```\n\n    $ cat s/x.txt\n    one\n"
        self.assertEqual(self.outcome(text).files, 1)

    def test_what_is_not_run_is_told(self):
        text = "<!-- not run: it is a placeholder -->\n\n    false\n\n<!-- slow: it builds -->\n\n    false\n"
        self.assertEqual(self.outcome(text).skipped, [(3, "it is a placeholder"), (7, "slow: it builds")])
        self.assertTrue(guides.run(text, is_slow=True).failures)

    def test_what_runs_instead(self):
        text = "<!-- slow: it builds -->\n<!-- instead: echo a > f -->\n\n    echo b > f\n\nThen\n\n    $ cat f\n    a\n"
        self.assertEqual(self.outcome(text).skipped, [(4, "slow: it builds")])
        self.outcome(text.replace("    a\n", "    b\n"), is_slow=True)
        self.assertTrue(guides.run("<!-- slow: it builds -->\n<!-- instead: false -->\n\n    true\n").failures)

    def test_what_comes_first(self):
        self.outcome("<!-- first: echo a > f -->\n\n    $ cat f\n    a\n")
        self.assertTrue(guides.run("<!-- first: false -->\n\n    true\n").failures)

    def test_what_a_block_needs(self):
        self.assertEqual(self.outcome("<!-- needs: false -->\n\n    false\n").skipped, [(3, "needs false")])
        self.assertEqual(self.outcome("<!-- needs: true -->\n\n    true\n").ran, 1)

    def test_words_that_stand_for_something(self):
        self.outcome("<!-- with: PID=$$, NAME=calm -->\n\n    $ kill -0 PID && echo NAME\n    calm\n")

    def test_a_command_over_two_lines(self):
        self.outcome("    $ echo a \\\n      b\n    a b\n")

    def test_what_stays_in_the_background_is_ended(self):
        self.outcome("    sleep 1000 & echo $!\n")


class MissingDocuments(unittest.TestCase):
    def test_a_document_that_is_not_there_is_told_in_a_line(self):
        errors = io.StringIO()
        words = ["guides", "README.md", "docs/not-there.md", "docs"]
        with mock.patch.object(sys, "argv", words), contextlib.redirect_stderr(errors), self.assertRaises(SystemExit) as end:
            guides.main()
        self.assertEqual(end.exception.code, 2)
        self.assertEqual(
            errors.getvalue(),
            "test-guides: no such document: docs/not-there.md, docs; give paths from the root of the clone\n")


if __name__ == "__main__":
    unittest.main()
