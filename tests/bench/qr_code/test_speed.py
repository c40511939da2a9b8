"""CPU time of a QR code as PNG, against npm `qrcode` and PyPI `qrcode` in the same run, on one core."""

import io
import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from pressroom_qr_code_generator.encode import encode
from pressroom_qr_code_generator.params import QrCodeParams
from pressroom_qr_code_generator.render import render
from support.downloads import npm_package
from support.needs import program

NPM_PACKAGE = "qrcode@1.5.4"
ROUNDS = 5
LEVEL: Final = "M"
MARGIN = 2


@dataclass(frozen=True, slots=True)
class Task:
    """A text, its image size in pixels, the draws per round, and our maximum share of npm's time."""

    text: str
    size: int
    calls: int
    most: float


TASKS = {
    "URL at 512 px": Task("https://example.com/products/42?ref=poster", 512, 40, 1 / 2),
    "version 40 at 2048 px": Task("ä" * 1165, 2048, 4, 1 / 5),
}


@pytest.fixture(scope="module", autouse=True)
def one_core() -> Iterator[None]:
    """Pin this process and its children to one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.fixture(scope="module")
def npm_qrcode() -> Path:
    """Return the folder of npm's `qrcode`, installing it if missing."""
    return npm_package(*NPM_PACKAGE.split("@"))


def _ours(task: Task) -> Callable[[], Any]:
    params = QrCodeParams(text=task.text, size=task.size, errorCorrection=LEVEL, margin=MARGIN)
    return lambda: render(params)


def _pypi_qrcode(task: Task) -> Callable[[], Any]:
    qrcode = pytest.importorskip("qrcode", reason="PyPI qrcode is not installed (dependency group bench)")

    def draw() -> bytes:
        code = qrcode.QRCode(error_correction=qrcode.constants.ERROR_CORRECT_M, border=MARGIN)
        code.add_data(task.text)
        code.make()
        code.box_size = task.size // (code.modules_count + 2 * MARGIN)
        content = io.BytesIO()
        code.make_image().save(content)
        return content.getvalue()

    return draw


def _rounds(draw: Callable[[], Any], calls: int) -> list[float]:
    """Return the CPU milliseconds per call, one figure per round."""
    draw()
    figures = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(calls):
            draw()
        figures.append((time.process_time() - began) / calls * 1000)
    return figures


def _npm_rounds(folder: Path, task: Task) -> list[float]:
    order = {
        "module": str(folder),
        "options": {"width": task.size, "margin": MARGIN, "errorCorrectionLevel": LEVEL},
        "text": task.text,
        "rounds": ROUNDS,
        "calls": task.calls,
    }
    script = Path(__file__).with_name("npm_qrcode.cjs")
    command = [program("node"), str(script)]
    done = subprocess.run(command, input=json.dumps(order), capture_output=True, text=True, timeout=100, check=True)
    return [float(figure) for figure in json.loads(done.stdout)]


@pytest.mark.parametrize("name", TASKS)
def test_a_png_takes_a_fraction_of_the_time_of_npm_qrcode(name: str, npm_qrcode: Path) -> None:
    task = TASKS[name]
    figures = {
        "Pressroom": _rounds(_ours(task), task.calls),
        "npm qrcode": _npm_rounds(npm_qrcode, task),
        "PyPI qrcode": _rounds(_pypi_qrcode(task), task.calls),
    }
    costs = {peer: statistics.median(rounds) for peer, rounds in figures.items()}
    print(f"\n{name} ({len(encode(task.text, LEVEL))} modules), median of {ROUNDS} rounds")
    for peer, cost in costs.items():
        print(f"{peer:>12}: {cost:8.2f} ms CPU  {cost / costs['npm qrcode']:6.3f} of npm qrcode")
    assert costs["Pressroom"] <= task.most * costs["npm qrcode"]
