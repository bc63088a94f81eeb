"""Pictures of pages, as a browser shows them. They need Playwright and Chromium, and take some seconds."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib.image
import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.cli.serve_demo import SCHEMA, STUDY, DemoStudy, Shifted

HEIGHT, PHONE, SCREEN, GAP = 850, 390, 772, 20
_MOMENT = 1_800_000_000.0
_WORDS = "Description"


@dataclass(frozen=True)
class Screens:
    """Pages side by side; the file keeps their words, too, which every machine shows in letters of its own."""

    pixels: NDArray[np.float32]
    words: str

    def savefig(self, path: str, dpi: int) -> None:
        matplotlib.image.imsave(path, self.pixels, dpi=dpi, metadata={_WORDS: self.words})


def words_of(path: Path) -> str:
    """The words of the pages in a picture."""
    from PIL import Image

    with Image.open(path) as picture:
        return str(picture.info.get(_WORDS, ""))


class _Still(Shifted):
    """A time that stands, some hours back while the respondents answer."""

    def __call__(self) -> float:
        return _MOMENT - self.back


class _Drawn(DemoStudy):
    """The study of the demonstration, whose respondents answer the same each time."""

    def _respondents(self) -> Iterator[dict[str, object]]:
        table = sf.datasets.load("adult").select(list(SCHEMA.names))
        rows = sf.randomize(table, self.scheme, rng=sf.experiment(1)).arrow()
        for number, row in enumerate(rows.to_pylist()):
            yield {"id": f"{number:032x}", "fingerprint": self.scheme.fingerprint, "answers": row}


@contextmanager
def _serving() -> Iterator[tuple[str, str]]:
    """A server with that study: its address, and what opens the results."""
    from sfumato.service.collection import open_collection
    from sfumato.service.running import server
    from sfumato.service.settings import Settings

    clock, ready, found = _Still(), threading.Event(), []
    with tempfile.TemporaryDirectory() as folder:
        held = open_collection(folder, None, Settings(read_apart=False), clock)
        study = _Drawn(held, clock)
        running = server(held, "127.0.0.1", 0, ready=lambda port: (found.append(port), ready.set()))
        thread = threading.Thread(target=running.run, daemon=True)
        thread.start()
        try:
            ready.wait(20)
            yield f"http://127.0.0.1:{found[0]}", study.miner
        finally:
            running.should_exit = True
            thread.join(20)
            held.close()


def serve() -> Screens:
    """The survey page on a phone, and the results page beside it."""
    from playwright import sync_api

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    shots, words = [], []
    with _serving() as (address, miner), tempfile.TemporaryDirectory() as folder, sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for width, path, seen in (
            (PHONE, f"/answer/{STUDY}", "h1"),
            (SCREEN, f"/results/{STUDY}#token={miner}", "h2:text-is('Shares')"),
        ):
            page = browser.new_page(locale="en-GB", viewport={"width": width, "height": HEIGHT})
            page.goto(address + path)
            page.wait_for_selector(seen)
            page.wait_for_load_state("networkidle")
            page.locator(seen).first.evaluate("(heading) => scrollTo(0, heading.getBoundingClientRect().top - 16)")
            page.screenshot(path=f"{folder}/page.png")
            shots.append(matplotlib.image.imread(f"{folder}/page.png")[..., :3])
            words.append(page.inner_text("body"))
        browser.close()
    between = np.broadcast_to(np.float32([0.886, 0.91, 0.94]), (HEIGHT, GAP, 3))
    return Screens(np.concatenate([shots[0], between, shots[1]], axis=1), "\n\n".join(words))
