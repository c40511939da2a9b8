"""Time from a source change until the new code responds, against Sanic's own `--auto-reload` of a single page."""

from __future__ import annotations

import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from support.needs import free_port
from support.reloading import CONFIG, Reloading, page_text, reloading_command

ROUNDS = 7
AT_MOST = {"a plugin alone": 1.7, "all plugins": 1.7}
"""Maximum reload time, as a multiple of Sanic's, which is 0.6 s on an idle machine."""

PAGE = """
from sanic import Sanic, text

app = Sanic("Said")


@app.get("/said")
async def said(request):
    return text("$WORD")
"""


@contextmanager
def bare_page(folder: Path) -> Iterator[Callable[[str], None]]:
    """Run a page on bare Sanic with auto-reload. Yield a function that changes the page's word and waits for it."""
    folder.mkdir()
    (folder / "said.py").write_text(PAGE)
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "sanic", "said:app", "--port", str(port), "--auto-reload"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def write(word: str) -> None:
        (folder / "said.py").write_text(PAGE.replace("$WORD", word))
        end = time.monotonic() + 60
        while page_text(port) != word:
            assert process.poll() is None
            assert time.monotonic() < end, "Sanic did not reload"
            time.sleep(0.02)

    try:
        write("ready")
        yield write
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(40)


def timed(write: Callable[[str], None], words: list[str]) -> list[float]:
    """Return the duration of each change, in seconds."""
    seconds: list[float] = []
    for word in words:
        # Both poll for changes; vary the phase at which each change falls into the polling interval.
        time.sleep(0.1 + 0.137 * len(seconds))
        began = time.perf_counter()
        write(word)
        seconds.append(time.perf_counter() - began)
    return seconds


@pytest.mark.timeout(600)
def test_a_change_is_served_soon_after_it_is_saved(tmp_path: Path) -> None:
    words = [f"word {number}" for number in range(ROUNDS)]
    configs = {"a plugin alone": CONFIG, "all plugins": CONFIG.replace("builtin_plugins = false\n", "")}
    with bare_page(tmp_path / "sanic") as write:
        peer = timed(write, words)
    print(f"\nSanic's reload of one page: {spread(peer)}")
    ratios = {}
    for name, config in configs.items():
        folder = tmp_path / name
        folder.mkdir()
        with reloading_command(folder, config) as running:
            running.wait_for("one")
            own = timed(partial(change, running), words)
        ratios[name] = statistics.median(own) / statistics.median(peer)
        print(f"reload with {name}: {spread(own)}, {ratios[name]:.1f} times as long")
    assert ratios.keys() == AT_MOST.keys()
    assert all(ratio < AT_MOST[name] for name, ratio in ratios.items())


def change(running: Reloading, word: str) -> None:
    running.write(word)
    running.wait_for(word)


def spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})"
