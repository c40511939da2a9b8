"""The parameters of a code image, and its details in the response."""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pressroom.sdk import Integer, Params
from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema

from pressroom_code_to_image.names import DEFAULT_FONT, LANGUAGES, FontName, ThemeName, language_of

BACKGROUND: Final = "linear-gradient(135deg, #5b6ee1, #b26ff0)"
"""Default gradient behind the window: blue to violet, which suits dark and light themes."""

SWATCHES: Final = (
    "#1d1a17",
    "linear-gradient(135deg, #5b6ee1, #b26ff0)",
    "linear-gradient(135deg, #0f2027, #2c5364)",
    "linear-gradient(135deg, #134e5e, #71b280)",
    "linear-gradient(135deg, #f46b45, #eea849)",
    "linear-gradient(135deg, #ee9ca7, #ffdde1)",
    "linear-gradient(135deg, #c31432, #240b36)",
    "linear-gradient(135deg, #83a4d4, #b6fbff)",
    "transparent",
)
"""Backgrounds to choose from."""

_LINES: Final = re.compile(r"\d{1,4}(?:-\d{1,4})?(?:,\d{1,4}(?:-\d{1,4})?)*")


def line_numbers(value: str) -> frozenset[int]:
    """Parse line numbers and ranges such as `2,4-6`.

    Raises:
        ValueError: the format is invalid, or a range ends before it starts.
    """
    text = re.sub(r"\s", "", value)
    if not text:
        return frozenset()
    if not _LINES.fullmatch(text):
        raise ValueError("must be line numbers and ranges such as 2,4-6")
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if int(first) < 1 or int(last or first) < int(first):
            raise ValueError(f"has the range {part}; lines count from 1, and a range goes upwards")
        numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)


def lines_beyond(value: str, last: int) -> list[str]:
    """Return the numbers and ranges that begin after the last line."""
    parts = re.sub(r"\s", "", value).split(",")
    return [part for part in parts if part and int(part.partition("-")[0]) > last]


def _lines(value: str) -> str:
    line_numbers(value)
    return value


LineNumbers = Annotated[str, AfterValidator(_lines)]


def _code(value: str) -> str:
    if not value.strip():
        raise ValueError("must have a character that can be seen")
    return value


def _background(value: str) -> str:
    from pressroom.graphics.gradient import parse_paint  # noqa: PLC0415 - the toolkit loads with the first call

    parse_paint(value)
    return value


_LANGUAGE_SCHEMA: Final = {"anyOf": [{"type": "string", "enum": list(LANGUAGES)}, {"type": "string"}]}


class CodeImageParams(Params):
    """The parameters of an image of code."""

    code: Annotated[str, AfterValidator(_code)] = Field(
        min_length=1,
        max_length=8000,
        description="The source code, with real line breaks. Long lines wrap; trailing blank lines are removed.",
        examples=["const answer: number = 42;"],
    )
    language: Annotated[str, AfterValidator(language_of), WithJsonSchema(_LANGUAGE_SCHEMA)] = Field(
        default="typescript",
        description=(
            "Used for syntax highlighting; plaintext turns it off, auto detects it. Any Pygments name or alias works."
        ),
        examples=["python"],
    )
    theme: ThemeName = Field(default="tokyo-night", description="Syntax colours.", examples=["github-light"])
    title: str = Field(
        default="example.ts",
        max_length=60,
        description="The name in the title bar; an empty text hides it. Long names are shortened.",
        examples=["main.py"],
    )
    windowControls: bool = Field(  # noqa: N815 - the contract's name
        default=True,
        description="Shows the three round buttons in the title bar. Without them and without a title there is no bar.",
        examples=[False],
    )
    lineNumbers: bool = Field(  # noqa: N815 - the contract's name
        default=True, description="Numbers the lines.", examples=[False]
    )
    padding: Integer = Field(
        default=48, ge=16, le=128, description="Space around the window, in pixels.", examples=[32]
    )
    width: Integer = Field(
        default=900,
        ge=400,
        le=2000,
        description="Width of the image in pixels; the height follows from the lines.",
        examples=[1200],
    )
    background: Annotated[str, AfterValidator(_background)] = Field(
        default=BACKGROUND,
        min_length=1,
        max_length=100,
        description=("Behind the window: any CSS colour, also transparent, or a linear-, radial- or conic-gradient."),
        examples=list(SWATCHES),
    )
    highlightLines: LineNumbers = Field(  # noqa: N815 - parameters are in camelCase
        default="", max_length=200, description="Lines to highlight, such as 2,4-6.", examples=["2,4-6"]
    )
    focusLines: LineNumbers = Field(  # noqa: N815 - parameters are in camelCase
        default="",
        max_length=200,
        description="Lines to focus on, such as 2,4-6; the others are dimmed.",
        examples=["3-5"],
    )
    diff: bool = Field(
        default=False,
        description="Shows lines that begin with + or - as added and removed, without that mark.",
        examples=[True],
    )
    fontSize: Integer = Field(  # noqa: N815 - parameters are in camelCase
        default=15,
        ge=10,
        le=32,
        description="Size of the code in pixels, rounded so that a column has whole pixels.",
        examples=[18],
    )
    font: FontName = Field(
        default=DEFAULT_FONT,
        description="Font of the code; ligatures are off, so that each character keeps its column.",
        examples=["fira-code"],
    )
    autoWidth: bool = Field(  # noqa: N815 - parameters are in camelCase
        default=False,
        description="Makes the image as narrow as the longest line allows, at most width.",
        examples=[True],
    )
    scale: Literal[1, 2, 4] = Field(
        default=1, description="Pixel density: image pixels for each pixel of width and the other sizes.", examples=[2]
    )
    radius: Integer = Field(
        default=12, ge=0, le=40, description="Radius of the window's corners in pixels.", examples=[0]
    )
    shadow: Integer = Field(
        default=100, ge=0, le=200, description="Strength of the shadow in percent; 0 switches it off.", examples=[0]
    )
    format: Literal["png", "svg"] = Field(
        default="png",
        description=(
            "Format of the file. An svg is sharp at any size; its text is drawn as outlines, and a conic-gradient "
            "cannot be its background."
        ),
        examples=["svg"],
    )


class CodeImageDetails(BaseModel):
    """What the response says about the image, besides its URL."""

    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    format: Literal["png", "svg"] = Field(description="The file's format.")
    language: str = Field(description="The language of the syntax colours; with `auto`, the detected one.")
