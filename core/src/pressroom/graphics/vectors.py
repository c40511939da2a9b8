"""Render SVG with resvg within limits. Potentially slow drawings are rendered in a separate process with a timeout.

The cost of a drawing cannot be predicted from its text: a single filter, pattern or dash array can take hours and
exhaust the memory. Only drawings of simple shapes are therefore rendered in this process.
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
"""CPU seconds for all drawings of one render that need a separate process."""

MAX_MEMORY_MIB: Final = 640
MAX_EDGE: Final = 4096

MAX_PIXELS: Final = 64_000_000
"""Maximum total pixels of all drawings of one render."""

_MAX_PAINTED_PIXELS: Final = 100_000_000
"""Maximum pixels that the shapes of a simple drawing can cover, assuming each is as large as the drawing."""

_MAX_SWEPT_PIXELS: Final = 50_000_000
"""Maximum product of a simple drawing's text length and its height: the cost of an edge grows with its height."""

_CHILD: Final = Path(__file__).with_name("vector_process.py")


class TooCostly(Exception):
    """The drawing takes too much time or memory, or too many pixels."""


class VectorBudget:
    """The remaining CPU time and pixels for the drawings of one render."""

    def __init__(self) -> None:
        self._seconds_left = float(MAX_SECONDS)
        self._pixels = MAX_PIXELS

    def draw(self, svg: Svg, width: int, height: int) -> Image.Image:
        """Render a drawing as an `RGBA` image of this size. Beyond 4096 pixels per side, the image is scaled up.

        Raises:
            TooCostly: the drawing takes too much time or memory, or too many pixels.
            ValueError: the drawing is invalid.
        """
        size = min(width, MAX_EDGE), min(height, MAX_EDGE)
        self._pixels -= size[0] * size[1]
        if self._pixels < 0:
            raise TooCostly
        png = _png(svg, *size) if _cheap(svg, *size) else self._png_apart(svg, *size)
        with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
            rendered = image.convert("RGBA")
        return rendered if rendered.size == (width, height) else rendered.resize((width, height))

    def _png_apart(self, svg: Svg, width: int, height: int) -> bytes:
        if self._seconds_left <= 0:
            raise TooCostly
        # Runs this server's interpreter with a fixed file: the command contains no caller input.
        command = [
            sys.executable,
            "-I",
            str(_CHILD),
            *map(str, (width, height, MAX_MEMORY_MIB, math.ceil(self._seconds_left))),
        ]
        text = svg.sized(width, height).encode()
        before = _spent()
        try:
            completed = subprocess.run(  # noqa: S603
                command,
                input=text,
                capture_output=True,
                timeout=2 * self._seconds_left + 1,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TooCostly from None
        finally:
            self._seconds_left -= _spent() - before
        if completed.returncode == 1:
            raise ValueError(completed.stderr.decode(errors="replace")[-200:])
        if completed.returncode:
            raise TooCostly
        return completed.stdout


def _spent() -> float:
    """Return the CPU seconds used by ended child processes."""
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
