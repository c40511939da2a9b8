"""Text recognition: an independent program reads the code back from the image."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from PIL import Image, ImageOps
from pressroom_code_to_image.names import ThemeName
from support.needs import program

from .conftest import Draw

MIN_READ = 0.9
"""The fraction of words that must be recognised correctly."""

CODE = """\
def average(values: list[float]) -> float:
    # The mean of all values, or zero for none.
    total = sum(values)
    return total / len(values) if values else 0.0

class Reader:
    def read(self, name: str) -> bytes:
        with open(name, "rb") as source:
            content = source.read()
        return content
"""


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[A-Za-z]{3,}", text))


@pytest.mark.parametrize("theme", get_args(ThemeName))
def test_the_code_can_be_read_back(theme: ThemeName, draw: Draw, tmp_path: Path) -> None:
    tesseract = program("tesseract")
    image = draw(CODE, language="python", theme=theme, title="", windowControls=False, lineNumbers=False)
    grey = image.convert("L").crop((60, 60, image.width - 60, image.height - 60))
    if theme != "github-light":
        grey = ImageOps.invert(grey)
    scanned = tmp_path / "code.png"
    # Text recognition is trained on scans at 300 dpi: three times the density of a screen.
    ImageOps.autocontrast(grey.resize((grey.width * 3, grey.height * 3), Image.Resampling.LANCZOS)).save(scanned)
    # With several threads, two thirds of the time would be spent waiting.
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    command = [tesseract, str(scanned), "-", "--psm", "6"]
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    words = _words(CODE)
    assert (words & _words(completed.stdout)).total() >= MIN_READ * words.total()
