"""Pictures of pages, compared with those that somebody last found right."""

import io
import os
import pathlib

from PIL import Image, ImageChops

from browser import RESULTS

GOLDENS = pathlib.Path(__file__).parent / "Pictures"

# Fonts are drawn a little differently by each version of the browser, so pictures are compared at a quarter of
# their size, and some of the points may differ.
SCALE = 4
TOLERANCE = 40
MOST_DIFFERENT = 0.02


def difference(png, name):
    """What differs from the golden, as a sentence; None for nothing. VIEWER_RECORD=1 records it anew."""
    shown = Image.open(io.BytesIO(png)).convert("RGB")
    small = shown.resize((shown.width // SCALE, shown.height // SCALE), Image.Resampling.BOX)
    golden = GOLDENS / f"{name}.png"
    if os.environ.get("VIEWER_RECORD") == "1":
        GOLDENS.mkdir(exist_ok=True)
        small.save(golden, optimize=True)
        return f"recorded {golden.name}"
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.png").write_bytes(png)
    if not golden.exists():
        return f"there is no {golden}; VIEWER_RECORD=1 records it"
    wanted = Image.open(golden).convert("RGB")
    if wanted.size != small.size:
        return f"{name}: {small.size} instead of {wanted.size}"
    points = ImageChops.difference(small, wanted).convert("L").point(lambda value: 255 if value > TOLERANCE else 0)
    share = sum(1 for value in points.getdata() if value) / (small.width * small.height)
    if share <= MOST_DIFFERENT:
        return None
    return f"{name}: {share:.1%} of the points differ; the picture is {RESULTS / name}.png, VIEWER_RECORD=1 records it anew"
