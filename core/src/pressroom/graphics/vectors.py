"""Drawing SVG with resvg, within bounds: what may take long is drawn by a process of its own, which is stopped in time.

How long a drawing takes cannot be told from its text: one filter, pattern or dash array may stand for hours and for all
the memory there is. So only drawings of simple shapes are drawn in this process.
"""

from __future__ import annotations

import io
import math
import resource
import subprocess
import sys
from pathlib import Path
from typing import Final

import resvg_py
from PIL import Image

from pressroom.graphics.svg import Svg

MAX_SECONDS: Final = 2
"""The time of a processor for all the drawings of one render that are drawn apart."""

MAX_MEMORY_MIB: Final = 640
MAX_EDGE: Final = 4096

MAX_PIXELS: Final = 64_000_000
"""How many pixels all the drawings of one render may have."""

_MAX_PAINTED_PIXELS: Final = 100_000_000
"""How many pixels the shapes of a simple drawing may cover, were each as large as the drawing."""

_MAX_SWEPT_PIXELS: Final = 50_000_000
"""How long the text of a simple drawing may be, times its height: an edge costs as much as it is high."""

_CHILD: Final = Path(__file__).with_name("vector_process.py")


class TooCostly(Exception):
    """A drawing takes too long, or too much memory."""


class VectorBudget:
    """What is left of the time and the pixels for the drawings of one render."""

    def __init__(self) -> None:
        self._left = float(MAX_SECONDS)
        self._pixels = MAX_PIXELS

    def draw(self, svg: Svg, width: int, height: int) -> Image.Image:
        """Return a drawing as an `RGBA` image of that many pixels, at most 4096 each way before it is enlarged.

        Raises:
            TooCostly: it takes too long, or too much memory.
            ValueError: it cannot be drawn.
        """
        size = min(width, MAX_EDGE), min(height, MAX_EDGE)
        self._pixels -= size[0] * size[1]
        if self._pixels < 0:
            raise TooCostly
        png = _png(svg, *size) if _cheap(svg, *size) else self._png_apart(svg, *size)
        with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
            drawn = image.convert("RGBA")
        return drawn if drawn.size == (width, height) else drawn.resize((width, height))

    def _png_apart(self, svg: Svg, width: int, height: int) -> bytes:
        if self._left <= 0:
            raise TooCostly
        # The interpreter of this server, and its own file: nothing of the caller's is part of the command.
        command = [sys.executable, "-I", str(_CHILD), *map(str, (width, height, MAX_MEMORY_MIB, math.ceil(self._left)))]
        text = svg.sized(width, height).encode()
        before = _spent()
        try:
            done = subprocess.run(  # noqa: S603
                command,
                input=text,
                capture_output=True,
                timeout=2 * self._left + 1,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TooCostly from None
        finally:
            self._left -= _spent() - before
        if done.returncode == 1:
            raise ValueError(done.stderr.decode(errors="replace")[-200:])
        if done.returncode:
            raise TooCostly
        return done.stdout


def _spent() -> float:
    """Return the time that a processor spent on the processes of this one that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cheap(svg: Svg, width: int, height: int) -> bool:
    return (
        svg.simple
        and svg.elements * width * height <= _MAX_PAINTED_PIXELS
        and len(svg.text) * height <= _MAX_SWEPT_PIXELS
    )


def _png(svg: Svg, width: int, height: int) -> bytes:
    return bytes(
        resvg_py.svg_to_bytes(svg_string=svg.sized(width, height), width=width, height=height, skip_system_fonts=True)
    )
