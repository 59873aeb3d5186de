"""Takes the README's pictures of a report."""

import io
import pathlib
import sys

from PIL import Image

from browser import Browser, html_of, summary

# A README is read over slow lines, too.
MOST_BYTES = 200_000


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    findings = summary(html_of(path))["findings"]
    # The finding with the longest way shows most of what the graph can tell.
    told = max(range(len(findings)), key=lambda place: len(findings[place].get("cycle") or findings[place].get("path") or []))
    browser = Browser()
    try:
        with browser.report(path, viewport={"width": 1200, "height": 760}) as report:
            for name, place in (("findings", "#/findings"), ("retained-by", f"#/retainers?f={told + 1}"), ("memory-map", "#/map")):
                png = report.open(place).screenshot(animations="disabled")
                picture = Image.open(io.BytesIO(png)).convert("P", palette=Image.Palette.ADAPTIVE, colors=128)
                picture.save(folder / f"{name}.png", optimize=True)
                size = (folder / f"{name}.png").stat().st_size
                print(f"{folder / name}.png, {size:,} bytes")
                if size > MOST_BYTES:
                    sys.exit(f"{name}.png is larger than {MOST_BYTES:,} bytes")
            if report.problems or report.leaving():
                sys.exit("\n".join(report.problems + report.leaving()))
    finally:
        browser.close()


if __name__ == "__main__":
    main()
