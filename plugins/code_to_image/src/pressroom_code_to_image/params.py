"""What an image of code is made from, and what is said of it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pressroom.sdk import Integer, Params
from pydantic import AfterValidator, BaseModel, Field

from pressroom_code_to_image.names import Language, ThemeName

BACKGROUND: Final = "linear-gradient(135deg, #5b6ee1, #b26ff0)"
"""The gradient behind the window: blue to violet, which suits dark themes and the light one."""


def _code(value: str) -> str:
    if not value.strip():
        raise ValueError("must have a character that can be seen")
    return value


def _background(value: str) -> str:
    from pressroom.graphics.gradient import parse_paint  # noqa: PLC0415 - the toolkit loads with the first call

    parse_paint(value)
    return value


class CodeImageParams(Params):
    """The parameters of an image of code."""

    code: Annotated[str, AfterValidator(_code)] = Field(
        min_length=1,
        max_length=8000,
        description="The source code, with real line breaks. Long lines wrap; trailing blank lines are removed.",
        examples=["const answer: number = 42;"],
    )
    language: Language = Field(
        default="typescript",
        description="Used for syntax highlighting; plaintext has none.",
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
        description="Whether the bar has the three round buttons. Without them and without a title there is no bar.",
        examples=[False],
    )
    lineNumbers: bool = Field(  # noqa: N815 - the contract's name
        default=True, description="Whether lines are numbered.", examples=[False]
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
        description=(
            "What is behind the window: any CSS colour, transparent included, or a linear-, radial- or conic-gradient."
        ),
        examples=["#1d1a17"],
    )


class CodeImageDetails(BaseModel):
    """What the answer says of the image, besides its URL."""

    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")
    format: Literal["png"] = Field(default="png", description="The file's format.")
