"""The parameters of a badge, its size, and the settings of the plugin."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pressroom.sdk import HexColor, Params, PluginConfig
from pydantic import AfterValidator, BaseModel, Field


def _printable(text: str) -> str:
    # XML cannot represent most control characters, not even as escapes.
    if any(unicodedata.category(character) in ("Cc", "Cn", "Zl", "Zp") for character in text):
        raise ValueError("must be one line of printable characters")
    return text


Text = Annotated[str, Field(min_length=1, max_length=60), AfterValidator(_printable)]
"""A short text on one line."""


class TextParams(Params):
    """The two texts of a badge."""

    label: Text = Field(description="What the badge is about, on its left half.", examples=["build"])
    value: Text = Field(description="The value, on its right half.", examples=["passing"])


class BadgeParams(TextParams):
    """The parameters of a badge."""

    color: HexColor = Field(default="#b9502a", description="Colour of the right half.", examples=["#2f6f4f"])


class BadgeSize(BaseModel):
    """The size of a badge, in pixels."""

    width: int = Field(description="Width in pixels.")
    height: int = Field(description="Height in pixels.")


class Config(PluginConfig):
    """The plugin's own configuration."""

    label_color: HexColor = Field(default="#1d1a17", description="Colour of the left half of every badge.")
