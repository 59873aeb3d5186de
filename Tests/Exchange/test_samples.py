"""The files in samples/ci: workflows by linters and schemas, the upload against a server."""

import datetime
import hashlib
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials

CI = pathlib.Path(__file__).parent.parent.parent / "samples" / "ci"
BIN = pathlib.Path(sys.executable).parent


class LintTest(unittest.TestCase):
    def run_tool(self, *words, cwd=None):
        return subprocess.run(
            [BIN / words[0], *words[1:]], cwd=cwd, capture_output=True, text=True, check=False)

    def test_yaml(self):
        rules = ("{extends: default, rules: {line-length: {max: 130}, document-start: disable, "
                 "truthy: {check-keys: false}, comments: {min-spaces-from-content: 1}}}")
        call = self.run_tool("yamllint", "--strict", "-d", rules, str(CI))
        self.assertEqual((call.returncode, call.stdout), (0, ""))

    def test_schemas(self):
        for schema, name in (
            ("vendor.github-actions", "github/leak-check/action.yml"),
            ("vendor.github-workflows", "github/workflow.yml"),
            ("vendor.gitlab-ci", "gitlab/leak-check.yml"),
        ):
            with self.subTest(name):
                more = ("--data-transform", "gitlab-ci") if "gitlab" in schema else ()
                call = self.run_tool(
                    "check-jsonschema", "--builtin-schema", schema, *more, str(CI / name))
                self.assertEqual(call.returncode, 0, call.stdout)

    def actionlint(self, change=lambda text: text):
        """What actionlint says of the workflow and the action, laid out as in a repository."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            subprocess.run(["git", "init", "--quiet", folder], check=True)
            shutil.copytree(
                CI / "github" / "leak-check", root / ".github" / "actions" / "leak-check")
            (root / ".github" / "workflows").mkdir()
            text = (CI / "github" / "workflow.yml").read_text()
            (root / ".github" / "workflows" / "leak-check.yml").write_text(change(text))
            call = self.run_tool("actionlint", "-no-color", cwd=folder)
            return call.stdout + call.stderr

    def test_actionlint(self):
        self.assertEqual(self.actionlint(), "")

    def test_actionlint_refuses(self):
        for right, wrong in (
            ("github.event_name", "github.event_nam"), ("runs-on:", "run-on:"),
            ('"$issues/$NUMBER/comments" \\', '$issues/$NUMBER/comments \\'),
            ("needs: leak-check", "needs: leaks"),
        ):
            with self.subTest(wrong):
                self.assertIn(right, (CI / "github" / "workflow.yml").read_text())
                self.assertNotEqual(self.actionlint(lambda text: text.replace(right, wrong)), "")

    def test_action_scripts(self):
        """The scripts of the composite action, which actionlint does not look into."""
        import ruamel.yaml

        action = ruamel.yaml.YAML().load(CI / "github" / "leak-check" / "action.yml")
        scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
        self.assertGreater(len(scripts), 2)
        for script in scripts:
            self.assertNotIn("${{", script, "what others write would be a part of the script")
            call = subprocess.run(
                ["shellcheck", "--shell=bash", "-"], input=script, text=True, check=False,
                capture_output=True)
            self.assertEqual(call.stdout, "")


class Store(http.server.ThreadingHTTPServer):
    """A server that keeps what is put there, has bad moments when told to, and checks signatures."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), StoreHandler)
        self.files, self.types, self.requests = {}, {}, []
        self.troubles = []
        self.token = None
        self.secret = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class StoreHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self):
        store = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        store.requests.append(self.path)
        trouble = store.troubles.pop(0) if store.troubles else None
        if trouble == "hang up":
            self.close_connection = True
            self.connection.close()
            return
        if trouble == "wait":
            time.sleep(3)
            return self.answer(200)
        if trouble:
            return self.answer(trouble)
        if store.token and self.headers.get("Authorization") != f"Bearer {store.token}":
            return self.answer(401)
        if store.secret and not self.is_signed(store.secret, body):
            return self.answer(403)
        store.files[urllib.parse.unquote(self.path)] = body
        store.types[urllib.parse.unquote(self.path)] = self.headers["Content-Type"]
        self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def is_signed(self, secret, body):
        """Signs the request again with AWS's own code and compares."""
        given = self.headers.get("Authorization", "")
        if not given.startswith("AWS4-HMAC-SHA256 "):
            return False
        if self.headers.get("X-Amz-Content-Sha256") != hashlib.sha256(body).hexdigest():
            return False
        fields = dict(part.strip().split("=", 1) for part in given.split(" ", 1)[1].split(","))
        key, _, region, service, _ = fields["Credential"].split("/")
        signed = {name: self.headers[name] for name in fields["SignedHeaders"].split(";")}
        request = botocore.awsrequest.AWSRequest(
            "PUT", f"http://{self.headers['Host']}{self.path}", headers=signed)
        signer = botocore.auth.S3SigV4Auth(
            botocore.credentials.Credentials(key, secret), service, region)
        request.context["timestamp"] = self.headers["X-Amz-Date"]
        request.context["payload_signing_enabled"] = False
        canonical = "\n".join([
            "PUT", signer._normalize_url_path(self.path), "",
            "".join(f"{name}:{' '.join(value.split())}\n" for name, value in signed.items()),
            fields["SignedHeaders"], self.headers["X-Amz-Content-Sha256"]])
        text = signer.string_to_sign(request, canonical)
        skew = abs(
            datetime.datetime.strptime(self.headers["X-Amz-Date"], "%Y%m%dT%H%M%SZ")
            - datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None))
        return (service == "s3" and skew < datetime.timedelta(minutes=15)
                and signer.signature(text, request) == fields["Signature"])

    def log_message(self, format, *args):
        pass


class UploadTest(unittest.TestCase):
    def setUp(self):
        self.store = Store()
        self.addCleanup(self.store.server_close)
        self.addCleanup(self.store.shutdown)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.content = {
            "index.html": b"<p>index", "summary.md": b"# sum",
            "snapshots/a b+c%d.mgraph": bytes(range(256)) * 4096,
            "reports/\u00e9\u4e2d.html": b"<p>report", "empty.json": b"",
            "snapshots/a[1-3]{x,y}.mgraph": b"brackets",
        }
        for name, content in self.content.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)

    def upload(self, *words, **environment):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("AWS_", "UPLOAD_")) and "proxy" not in name.lower()}
        return subprocess.run(
            [CI / "upload-artifact", *map(str, words)], capture_output=True, text=True,
            env=kept | {"UPLOAD_DELAY": "0"} | environment, check=False)

    def assert_stored(self, base):
        self.assertEqual(
            self.store.files, {f"{base}/{name}": data for name, data in self.content.items()})

    def test_all_files(self):
        call = self.upload(self.folder, self.store.url + "/build 17/".replace(" ", "%20"))
        self.assertEqual((call.returncode, call.stderr), (0, ""))
        self.assert_stored("/build 17")
        self.assertIn(f"6 files are at {self.store.url}/build%2017\n", call.stdout)
        self.assertTrue(self.store.requests[-1].endswith("/index.html"), "it comes last")
        self.assertEqual(self.store.types["/build 17/index.html"], "text/html; charset=utf-8")
        self.assertEqual(self.store.types["/build 17/empty.json"], "application/json")

    def test_bad_moments(self):
        self.store.troubles = [503, "hang up", 429, 500, None, 502, 408]
        call = self.upload(self.folder, self.store.url + "/x")
        self.assertEqual(call.returncode, 0, call.stderr)
        self.assert_stored("/x")
        self.assertEqual(call.stderr.count("trying again"), 6)
        self.assertEqual(len(self.store.requests), 6 + 6)

    def test_gives_up(self):
        self.store.troubles = [503] * 10
        call = self.upload(self.folder, self.store.url + "/x", UPLOAD_TRIES="3")
        self.assertEqual(call.returncode, 1)
        self.assertIn("given up after 3 tries: status 503", call.stderr)
        self.assertEqual(len(self.store.requests), 3)

    def test_nobody_there(self):
        url = self.store.url
        self.store.shutdown()
        self.store.server_close()
        call = self.upload(self.folder, url + "/x", UPLOAD_TRIES="2")
        self.assertEqual(call.returncode, 1)
        self.assertIn("given up after 2 tries: curl: (7)", call.stderr)

    def test_token(self):
        self.store.token = "secret"
        call = self.upload(self.folder, self.store.url + "/x", UPLOAD_TOKEN="wrong")
        self.assertEqual(call.returncode, 1)
        self.assertIn("the server refuses it: status 401", call.stderr)
        self.assertEqual(len(self.store.requests), 1, "what is refused is not tried again")
        self.assertNotIn("wrong", call.stdout + call.stderr)
        call = self.upload(self.folder, self.store.url + "/x", UPLOAD_TOKEN="secret")
        self.assertEqual(call.returncode, 0, call.stderr)
        self.assert_stored("/x")

    def test_s3(self):
        self.store.secret = "wJalr/XUtnFEMI+K7"
        keys = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_REGION": "eu-central-1"}
        call = self.upload(
            "--s3", self.folder, self.store.url + "/bucket/x", AWS_SECRET_ACCESS_KEY="other", **keys)
        self.assertEqual(call.returncode, 1)
        self.assertIn("status 403", call.stderr)
        self.store.troubles = [503]
        for more in ({}, {"AWS_SESSION_TOKEN": "session"}):
            self.store.files.clear()
            call = self.upload(
                "--s3", self.folder, self.store.url + "/bucket/x",
                AWS_SECRET_ACCESS_KEY=self.store.secret, **keys, **more)
            self.assertEqual(call.returncode, 0, call.stderr)
            self.assert_stored("/bucket/x")

    def test_secrets_are_no_options(self):
        for token in ('x"\noutput = "stolen', "a\\b", "a\tb"):
            with self.subTest(token):
                call = self.upload(self.folder, self.store.url + "/x", UPLOAD_TOKEN=token)
                self.assertEqual(call.returncode, 2)
                self.assertIn("upload-artifact: UPLOAD_TOKEN: ", call.stderr)
        self.assertEqual(self.store.requests, [])

    def test_numbers(self):
        for name in ("UPLOAD_TRIES", "UPLOAD_DELAY", "UPLOAD_LIMIT"):
            call = self.upload(self.folder, self.store.url + "/x", **{name: "abc"})
            self.assertEqual((call.returncode, call.stderr), (2, f"upload-artifact: {name}: no number: abc\n"))

    def test_a_server_that_takes_for_ever(self):
        self.store.troubles = ["wait"] * 9
        call = self.upload(self.folder, self.store.url + "/x", UPLOAD_TRIES="2", UPLOAD_LIMIT="1")
        self.assertEqual(call.returncode, 1)
        self.assertIn("given up after 2 tries: curl: (28)", call.stderr)

    def test_usage(self):
        for words in ([], [self.folder], [self.folder, "ftp://x"], ["--s3", self.folder, "http://x"],
                      [self.folder / "nowhere", "http://x"], ["-x", self.folder, "http://x"]):
            with self.subTest(words):
                self.assertEqual(self.upload(*words).returncode, 2)


if __name__ == "__main__":
    unittest.main()
