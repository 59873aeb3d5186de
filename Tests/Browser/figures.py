"""Figures of one report in Chromium: size, first paint, ready, click to picture, memory of the renderer."""

import base64
import pathlib
import random
import re
import statistics
import sys
import zlib

from browser import READY, Browser, html_of, summary

# How many objects are clicked.
CLICKS = 200

# From a change of the place to the picture on the screen, after which a task of the browser runs.
CLICK = """address => new Promise(done => {
  const began = performance.now();
  location.hash = "#/retainers?o=" + address;
  const shown = () => requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  addEventListener("hashchange", shown, { once: true });
})"""


def memory(browser):
    """The most resident memory that a renderer had, in bytes."""
    session = browser.browser.new_browser_cdp_session()
    most = 0
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        if process["type"] != "renderer":
            continue
        for line in pathlib.Path(f"/proc/{process['id']}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                most = max(most, int(line.split()[1]) * 1024)
    return most


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    text = html_of(path)
    told = summary(text)
    browser = Browser()
    try:
        with browser.report(path) as report:
            page = report.page
            page.goto(path.as_uri(), wait_until="commit")
            page.wait_for_selector("main#static h1", timeout=60_000)
            report.wait(READY, patience=600)
            paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
            ready = page.evaluate("globalThis.__perf.ready")
            times = page.evaluate("globalThis.__perf.times")
            page.evaluate("location.hash = '#/retainers'")
            report.settle()
            clicks = [page.evaluate(CLICK, address) for address in random.Random(1).choices(addresses_of(text, told), k=CLICKS)]
            clicks.sort()
            most = memory(browser)
            problems = report.problems + report.leaving()
            banner = page.locator(".banner.bad").all_inner_texts()
    finally:
        browser.close()
    print(f"objects       {told['nodes']:>10,}   references {told['edges']:,}")
    print(f"file          {len(text.encode()) / 1e6:10.1f} MB")
    print(f"first paint   {paint:10.0f} ms")
    print(f"ready         {ready:10.0f} ms   " + ", ".join(f"{entry['stage']} {entry['milliseconds']:.0f}" for entry in times))
    print(f"click p50     {statistics.median(clicks):10.1f} ms")
    print(f"click p95     {clicks[int(len(clicks) * 0.95)]:10.1f} ms")
    print(f"renderer      {most / 1e6:10.0f} MB")
    for problem in problems + banner:
        print(f"PROBLEM       {problem}")
    if problems or banner:
        sys.exit(1)


def addresses_of(text, told):
    """Where each object starts, from the payload itself."""
    chunks = re.findall(r'<script type="text/plain" class="data">([^<]*)</script>', text)
    raw = zlib.decompress(b"".join(base64.b64decode(chunk) for chunk in chunks), wbits=31)
    columns = {}
    place = 0
    for column in told["columns"]:
        columns[column["name"]] = raw[place : place + column["bytes"]]
        place += column["bytes"]
    gaps = [value >> 1 ^ -(value & 1) for value in numbers(columns["node.gap"])]
    addresses = []
    end = 0
    for gap, size in zip(gaps, numbers(columns["node.bytes"])):
        addresses.append(f"0x{end + gap:x}")
        end += gap + size
    return addresses


def numbers(column):
    """The values of a LEB128 column."""
    value = shift = 0
    for byte in column:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


if __name__ == "__main__":
    main()
