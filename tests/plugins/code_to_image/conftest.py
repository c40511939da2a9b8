"""A code sample for each language, and images of code."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from PIL import Image
from pressroom_code_to_image.params import CodeImageParams
from pressroom_code_to_image.render import render

Draw = Callable[..., Image.Image]

SAMPLES: Final = {path.stem: path for path in sorted((Path(__file__).parent / "samples").iterdir())}


@pytest.fixture(scope="session")
def samples() -> dict[str, str]:
    """The code samples by language."""
    return {name: path.read_text("utf-8") for name, path in SAMPLES.items()}


@pytest.fixture(scope="session")
def draw() -> Draw:
    """Return a function that draws code with the given parameters and returns the decoded image."""

    def drawn(code: str, **params: Any) -> Image.Image:
        artifact = render(CodeImageParams(**{"code": code, "language": "plaintext", **params}))
        image = Image.open(io.BytesIO(artifact.content))
        image.load()
        return image

    return drawn
