"""Smoke tests in Firefox and WebKitGTK: the page reads its data, agrees with the analyzer, and opens each view."""

import os
import pathlib
import shutil
import sys
import time

from browser import PAGES, html, summary

VIEWS = ("types", "objects", "retainers?f=1", "references?f=1", "map", "map?as=icicle", "allocations", "compare", "findings")
PATIENCE = 60

# What the page shows, from outside its policy: each engine has its own way to ask.
STATE = "JSON.stringify([document.readyState, globalThis.__ready === true, [...document.querySelectorAll('h1')].filter(e => e.offsetParent).map(e => e.textContent).join(' '), [...document.querySelectorAll('.banner.bad')].map(e => e.textContent).join(' ')])"


class Firefox:
    """Firefox, asked by Marionette."""

    name = "Firefox"

    def __init__(self):
        from marionette_driver.marionette import Marionette

        # Its log would lie in the folder that the test runs in.
        self.driver = Marionette(bin=shutil.which("firefox-esr") or "/usr/bin/firefox-esr", headless=True, gecko_log=str(PAGES / "gecko.log"))
        self.driver.start_session()

    def go(self, url):
        self.driver.navigate(url)

    def ask(self, expression):
        # Without a sandbox the script sees the page's own objects.
        return self.driver.execute_script(f"return {expression};", sandbox=None)

    def close(self):
        self.driver.delete_session()
        self.driver.cleanup()
        # Its profile's folder goes with it, which is too late when the interpreter ends.
        self.driver = None


class WebKit:
    """WebKitGTK's small browser, asked by WebDriver; it needs a display."""

    name = "WebKitGTK"

    def __init__(self):
        from selenium import webdriver
        from selenium.webdriver.webkitgtk.options import Options
        from selenium.webdriver.webkitgtk.service import Service

        options = Options()
        browsers = sorted(pathlib.Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"))
        if not browsers:
            raise FileNotFoundError("there is no MiniBrowser in /usr/lib: apt-get install webkit2gtk-driver")
        options.binary_location = str(browsers[-1])
        options.add_argument("--automation")
        self.driver = webdriver.WebKitGTK(options=options, service=Service("/usr/bin/WebKitWebDriver"))

    def go(self, url):
        self.driver.get(url)

    def ask(self, expression):
        return self.driver.execute_script(f"return {expression};")

    def close(self):
        self.driver.quit()


def smoke(engine):
    """What is wrong in an engine, as sentences."""
    import json

    wrong = []

    def state(wanted):
        end = time.monotonic() + PATIENCE
        while True:
            found = json.loads(engine.ask(STATE))
            if wanted(found) or time.monotonic() > end:
                return found
            time.sleep(0.1)

    for report in ("clinic", "waiting"):
        url = (PAGES / f"{report}.html").resolve().as_uri()
        engine.go(url)
        found = state(lambda value: value[1])
        if not found[1]:
            wrong.append(f"{report}: the data are not read: {found}")
            continue
        if summary(html(report))["answer"] not in found[2]:
            wrong.append(f"{report}: the answer does not stand in the heading: {found[2]}")
        for view in VIEWS if report == "clinic" else ("tasks",):
            engine.ask(f"(location.hash = '#/{view}')")
            found = state(lambda value: value[2] != "")
            if found[3] or not found[2]:
                wrong.append(f"{report} {view}: {found}")
        if report == "clinic":
            engine.ask("(location.hash = '#/retainers?f=1')")
            before = state(lambda value: value[2].startswith("Who retains"))
            engine.ask("document.querySelector('.graph .box.objects:not(.target)').click()")
            found = state(lambda value: value[2] != before[2])
            if found[2] == before[2] or not found[2].startswith("Who retains"):
                wrong.append(f"{report}: a click on a holder does not make it the subject: {found}")
    return wrong


def main():
    failed = False
    for engine_class in {"firefox": (Firefox,), "webkit": (WebKit,)}.get((sys.argv[1:] or [""])[0], (Firefox, WebKit)):
        began = time.monotonic()
        engine = engine_class()
        try:
            wrong = smoke(engine)
        finally:
            engine.close()
        for sentence in wrong:
            print(f"{engine.name}: {sentence}")
        if not wrong:
            print(f"{engine.name}: {len(VIEWS) + 1} views in two reports, {time.monotonic() - began:.0f} s")
        failed = failed or bool(wrong)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    os.environ.setdefault("MOZ_HEADLESS", "1")
    main()
