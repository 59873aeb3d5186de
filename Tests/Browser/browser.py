"""What the browser tests share: pages in Chromium, watched for anything that a report must not do."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import time

from playwright.sync_api import sync_playwright

# The folder with the pages that ViewerPagesTests writes.
PAGES = pathlib.Path(os.environ.get("VIEWER_PAGES", "pages")).resolve()

# Where pictures of failures go.
RESULTS = pathlib.Path(os.environ.get("VIEWER_RESULTS", PAGES / "results"))

READY = "() => globalThis.__ready === true"

# The page's policy forbids evaluation, which Playwright's own waiting needs, so waiting asks from outside.
PATIENCE = 60


def chromium():
    """The system's browser."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"


class Page:
    """A report in a browser. What it says on the console or asks of the network is kept."""

    def __init__(self, context, path):
        self.problems = []
        self.dialogs = []
        self.requests = []
        self.page = context.new_page()
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("dialog", self._dialog)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.path = path

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def _dialog(self, dialog):
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open(self, hash_="", wait=True):
        """Opens the report at a place; a page that is open already only goes there."""
        url = self.path.as_uri() + hash_
        if self.page.url.split("#")[0] == self.path.as_uri() and hash_:
            self.page.evaluate("hash => { location.hash = hash; }", hash_)
        else:
            self.page.goto(url)
        if wait:
            self.wait(READY)
            self.settle()
        return self.page

    def wait(self, condition, argument=None, patience=PATIENCE):
        """Waits until a function is true in the page."""
        end = time.monotonic() + patience
        while not self.page.evaluate(condition, argument):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def settle(self):
        """Waits until what was asked for is on the screen."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def leaving(self):
        """Requests that leave the file."""
        return [url for url in self.requests if not url.startswith(("file:", "blob:", "data:")) or (url.startswith("file:") and url.split("#")[0] != self.path.as_uri())]


class Browser:
    """A Chromium for a whole run of tests."""

    def __init__(self):
        self._playwright = sync_playwright().start()
        self.browser = self._playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--force-color-profile=srgb", "--disable-lcd-text", "--font-render-hinting=none"])

    def close(self):
        self.browser.close()
        self._playwright.stop()

    @contextlib.contextmanager
    def report(self, name, **options):
        """A page in a context of its own, without network."""
        settings = {"viewport": {"width": 1280, "height": 860}, "color_scheme": "light", "reduced_motion": "reduce", "offline": True}
        settings.update(options)
        context = self.browser.new_context(**settings)
        context.set_default_timeout(PATIENCE * 1000)
        path = name if isinstance(name, pathlib.Path) else PAGES / f"{name}.html"
        try:
            yield Page(context, path)
        finally:
            context.close()


def html(name):
    """The text of one of the tests' pages."""
    return html_of(PAGES / f"{name}.html")


def html_of(path):
    """The text of a page."""
    return path.read_text(encoding="utf-8")


def written(name, text):
    """A changed page as a file."""
    path = PAGES / f"changed-{name}.html"
    path.write_text(text, encoding="utf-8")
    return path


def summary(text):
    """The summary of a page as a value."""
    return json.loads(re.search(r'<script type="application/json" id="summary">(.*?)</script>', text, re.S).group(1))


def with_summary(text, value):
    """A page with another summary."""
    safe = json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    start = text.index('id="summary">') + len('id="summary">')
    end = text.index("</script>", start)
    return text[:start] + safe + text[end:]
