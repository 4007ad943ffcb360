"""Take the pictures of the documentation from the demo world: `.venv/bin/python docs/pictures.py [--workbench] [FILE]`.

With --workbench: the annotation page of each task type instead, small, into docs/pictures/workbench, where the methods
appendix of a release takes them from, and smaller into the folder of the task type, for the gallery of New batch. FILE is
what a running `./run demo` has printed ("-" reads it from stdin). Without it, a demo of its own is started on a free port,
with its data in a temporary folder, and stopped at the end. It needs the packages of `./run test` and a Chromium
(`apt install chromium`, or name one in ASKEW_CHROMIUM).
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
LARGEST = 260_000
"""Bytes of a picture; people clone them with the code."""
LARGEST_SMALL = 15_000
"""Bytes of a picture of the gallery of task types, which loads one for each task type and variant."""


# -- the pictures -----------------------------------------------------------------------------------


def annotate(page: Page) -> None:
    """One label of four, one key each."""
    page.get_by_role("link", name=re.compile("^Start Question types, round 2")).click()
    page.locator("askew-annotate[data-ready]").wait_for()


def edit(page: Page) -> None:
    """A table changed in one cell, the new answer beside it, and the checklist."""
    follow(page, "Annotate Change the answer")
    page.locator("askew-annotate[data-ready]").wait_for()
    cell = page.get_by_role("gridcell", name=EDITED_CELL, exact=True).first
    cell.click()
    page.keyboard.type(NEW_TEXT)
    page.keyboard.press("Enter")
    page.get_by_label("New answer").fill(NEW_ANSWER)
    page.locator("[data-saved]", has_text="Saved").wait_for()
    page.locator("[data-holds~=answer_unchanged][data-state=yes]").wait_for(state="attached")


def batch(page: Page) -> None:
    """A finished batch: its progress and its agreement."""
    follow(page, "Tilted tables")
    follow(page, "Question types, pilot")


def adjudicate(page: Page) -> None:
    """Responses compared, without names."""
    follow(page, "2 items to adjudicate")
    follow(page, "Start adjudicating")


def release(page: Page) -> None:
    """What was released, and the figures that can be recomputed from it."""
    follow(page, "Tilted tables")
    follow(page, "Releases")
    follow(page, "pilot")


EDITED_CELL, NEW_TEXT, NEW_ANSWER = "6th", "10th", "Concha"
"""Of the first item that the demo gives: which artist came in last place?"""
SHOTS: tuple[tuple[str, Callable[[Page], None]], ...] = (
    ("annotator", annotate),
    ("annotator", edit),
    ("manager", batch),
    ("adjudicator", adjudicate),
    ("researcher", release),
)


def take(links: dict[str, str]) -> None:
    """Every picture, each by a person of its role, 1280 pixels wide."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags())
        for role, shot in SHOTS:
            page = signed_in(browser, links[role])
            shot(page)
            page.wait_for_load_state("networkidle")
            path = PICTURES / f"{shot.__name__}.png"
            page.screenshot(path=path, animations="disabled", caret="hide")
            size = path.stat().st_size
            print(f"{path.relative_to(ROOT)}: {size:,} bytes")
            if size > LARGEST:
                raise SystemExit(f"{path.name} has more than {LARGEST:,} bytes")
            page.context.close()
        browser.close()


def take_workbench(links: dict[str, str]) -> None:
    """The first item of each task type in a window of 1366 x 850 pixels, at half the size."""
    folder = PICTURES / "workbench"
    folder.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=flags())
        page = signed_in(browser, links["annotator"], width=1366, height=850, scale=0.5)
        batches = page.locator("a[href*='/batches/'][href$='/annotate/']")
        taken: set[Path] = set()
        addresses = dict.fromkeys(batches.evaluate_all("links => links.map((link) => link.href)"))
        for address in addresses:
            page.goto(address)
            workbench = page.locator("askew-annotate[data-ready] [data-guidelines]")
            if not workbench.count():
                continue  # consent or practice comes first
            key = workbench.get_attribute("data-guidelines")
            page.wait_for_load_state("networkidle")
            path = folder / f"{key}.jpg"
            if path in taken:
                continue  # another variant of the task type
            taken.add(path)
            page.screenshot(path=path, type="jpeg", quality=70, animations="disabled", caret="hide")
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")
        small = {
            (path.stem, "picture"): path.read_bytes()
            for path in sorted(folder.glob("*.jpg"))
            if path.stem not in VARIANTS
        }
        take_small(browser, small | dict(of_variants(page)))
        browser.close()


VARIANTS = {
    "question_paraphrase": ("word", "sentence"),
    "value_change": ("answer_changes", "answer_stays"),
}
"""The variants of task types, each of which has a picture in the gallery: its first exercise."""


def of_variants(page: Page) -> Iterator[tuple[tuple[str, str], bytes]]:
    """Task type, name and picture of each variant."""
    project = page.url.partition("/batches/")[0] + "/projects/tilted-tables"
    for key, variants in VARIANTS.items():
        for variant in variants:
            page.goto(f"{project}/practice/{key}/?variant={variant}")
            page.locator("askew-annotate[data-ready]").wait_for()
            picture = page.screenshot(type="jpeg", quality=70, animations="disabled", caret="hide")
            yield (key, f"picture-{variant}"), picture


def take_small(browser: Browser, pictures: dict[tuple[str, str], bytes]) -> None:
    """The table and the form of each picture for the gallery of task types, into the folder of the task type."""
    page = browser.new_page(viewport={"width": 384, "height": 180})
    for (key, name), picture in pictures.items():
        data = base64.b64encode(picture).decode()
        page.set_content(f'<body style="margin: 0"><img width="540" src="data:image/jpeg;base64,{data}">')
        page.locator("img").evaluate("(image) => image.decode()")
        path = ROOT / "tasks" / key / "static" / key / f"{name}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=path, type="jpeg", quality=60, animations="disabled")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")
        if path.stat().st_size > LARGEST_SMALL:
            raise SystemExit(f"{path} has more than {LARGEST_SMALL:,} bytes")
    page.close()


def signed_in(browser: Browser, link: str, *, width: int = 1280, height: int = 860, scale: float = 1) -> Page:
    """A window of the person whose demo link this is, on their first page."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        color_scheme="light",
        locale="en-GB",
    )
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name=re.compile("^Sign in as")).click()
    return page


def follow(page: Page, name: str) -> None:
    """Click the first link of exactly this name, be it drawn as a button or not."""
    link = page.get_by_role("link", name=name, exact=True)
    link.or_(page.get_by_role("button", name=name, exact=True)).first.click()


def chromium() -> str:
    """The browser of ASKEW_CHROMIUM, else the system's."""
    names = (os.environ.get("ASKEW_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, (shutil.which(name) for name in names if name)), None)
    return found or sys.exit("no Chromium: apt install chromium, or name one in ASKEW_CHROMIUM")


def flags() -> list[str]:
    """Chromium without first-run pages and, for root, without the sandbox that it would refuse."""
    quiet = ["--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"]
    return [*quiet, "--no-sandbox"] if os.geteuid() == 0 else quiet


# -- the demo ---------------------------------------------------------------------------------------


@contextmanager
def demo() -> Iterator[dict[str, str]]:
    """The sign-in links, by role, of a demo that lives as long as the `with` block."""
    with tempfile.TemporaryDirectory(prefix="askew-pictures-") as folder:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "run"), "demo", "--port", "0"],
            env={**os.environ, "ASKEW_DATA_DIR": folder},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        try:
            said = []
            for line in process.stdout:
                said.append(line)
                if line.startswith("Press Ctrl-C"):
                    break
            yield links_in("".join(said))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def links_in(printed: str) -> dict[str, str]:
    """Role -> link, from what `./run demo` prints."""
    found = dict(re.findall(r"^ +(\w+) +(http\S+/demo/\S+)$", printed, flags=re.MULTILINE))
    return found or sys.exit("there are no sign-in links in what the demo printed")


def main(arguments: list[str]) -> None:
    """Take the pictures from the demo named in the arguments, else from one of its own."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    take_pictures = take_workbench if "--workbench" in arguments else take
    files = [argument for argument in arguments if argument != "--workbench"]
    if files:
        take_pictures(links_in(sys.stdin.read() if files[0] == "-" else Path(files[0]).read_text()))
    else:
        with demo() as links:
            take_pictures(links)


if __name__ == "__main__":
    main(sys.argv[1:])
