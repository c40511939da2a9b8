"""What the tools share."""

from __future__ import annotations

from typing import Annotated, Any

from pressroom.sdk import Call, InvalidInput, PluginContext
from pydantic import Field

ContentId = Annotated[str, Field(min_length=1, max_length=64, description="The article, as list_content names it.")]
WebsiteId = Annotated[str, Field(min_length=1, max_length=64, description="The website, as list_websites names it.")]
Url = Annotated[
    str, Field(min_length=1, max_length=2048, description="A full URL on the internet, with https:// or http://.")
]
Phrase = Annotated[str, Field(max_length=200, description="What the text is to be found by.")]


def context(call: Call) -> PluginContext:
    """Return the plugin's context. Tools of this plugin run where there is one."""
    if call.plugin is None:
        raise RuntimeError("this tool runs on the event loop only")
    return call.plugin


def exactly_one(**given: Any) -> None:
    """Refuse a call that has none or several of these arguments. Raises `InvalidInput`."""
    if sum(value is not None for value in given.values()) != 1:
        names = " or ".join(given)
        raise InvalidInput(next(iter(given)), f"give either {names}, and not both")


def short(text: str, most: int = 200) -> str:
    """Return a text cut for the model."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
