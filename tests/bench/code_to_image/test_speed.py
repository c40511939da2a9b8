"""CPU time of rendering code as a PNG, against shiki with satori and resvg, and against Pygments, on one core."""

import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pygments
import pytest
from pressroom.graphics.text import default_library
from pressroom_code_to_image.params import CodeImageParams
from pressroom_code_to_image.render import render
from pygments.formatters import ImageFormatter
from pygments.lexers import get_lexer_by_name
from support.downloads import npm_packages
from support.needs import program

HERE: Final = Path(__file__).parent
SAMPLE: Final = HERE.parents[1] / "plugins" / "code_to_image" / "samples" / "typescript.txt"
ROUNDS: Final = 9
WIDTH: Final = 900

MIN_LEAD_OVER_NPM, MIN_LEAD_OVER_PYGMENTS = 10, 5
MAX_FOR_8000_CHARACTERS: Final = 120.0


@pytest.fixture(scope="module", autouse=True)
def one_core() -> Iterator[None]:
    """Pin this process and its children to one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.fixture(scope="module")
def npm_modules() -> Path:
    """Return the folder of the npm packages, installing them if missing."""
    return npm_packages("code-to-image-peers", HERE / "package.json")


def _font() -> str:
    return str(default_library().of_family("JetBrains Mono")[0].path)


def _code(lines: int) -> str:
    """Return the first `lines` non-blank lines of the sample."""
    return "\n".join([line for line in SAMPLE.read_text("utf-8").splitlines() if line][:lines])


def _rounds(draw: Callable[[], Any]) -> float:
    """Return the median CPU time of a call, in milliseconds."""
    draw()
    figures = []
    for _ in range(ROUNDS):
        began = time.process_time()
        draw()
        figures.append((time.process_time() - began) * 1000)
    return statistics.median(figures)


def _npm(modules: Path, code: str) -> float:
    order = {
        "modules": str(modules),
        "code": code,
        "language": "typescript",
        "theme": "tokyo-night",
        "width": WIDTH,
        "rounds": ROUNDS,
    }
    command = [program("node"), str(HERE / "npm_pipeline.js")]
    done = subprocess.run(command, input=json.dumps(order), capture_output=True, text=True, timeout=200, check=False)
    assert not done.returncode, done.stderr
    return float(statistics.median(json.loads(done.stdout)))


def _pygments(code: str) -> Callable[[], bytes]:
    def draw() -> bytes:
        formatter = ImageFormatter(font_name=_font(), font_size=15, line_numbers=True, style="monokai")
        return bytes(pygments.highlight(code, get_lexer_by_name("typescript"), formatter))

    return draw


def test_40_lines_render_faster_than_shiki_with_satori_and_pygments(npm_modules: Path) -> None:
    code = _code(40)
    params = CodeImageParams(code=code, width=WIDTH)
    costs = {
        "Pressroom": _rounds(lambda: render(params)),
        "shiki + satori + resvg": _npm(npm_modules, code),
        "Pygments ImageFormatter": _rounds(_pygments(code)),
    }
    print(f"\n40 lines at {WIDTH} px, median of {ROUNDS} rounds")
    for name, cost in costs.items():
        print(f"{name:>24}: {cost:8.2f} ms CPU, {cost / costs['Pressroom']:5.1f} times ours")
    assert costs["shiki + satori + resvg"] >= MIN_LEAD_OVER_NPM * costs["Pressroom"]
    assert costs["Pygments ImageFormatter"] >= MIN_LEAD_OVER_PYGMENTS * costs["Pressroom"]


def test_the_render_time_of_8000_characters_is_bounded() -> None:
    code = (SAMPLE.read_text("utf-8") * 4)[:8000]
    cost = _rounds(lambda: render(CodeImageParams(code=code, width=WIDTH)))
    print(f"\n8000 characters at {WIDTH} px: {cost:.1f} ms CPU")
    assert cost <= MAX_FOR_8000_CHARACTERS
