"""Pictures of posts for link previews, made by the server's own image generator where it is installed."""

from __future__ import annotations

import time
from typing import Final

import structlog
from pressroom.sdk import CallError, NotFound, PluginContext

log = structlog.get_logger()

GENERATOR: Final = "image-generator"
WIDTH: Final = 1200
HEIGHT: Final = 630
_ASK_AGAIN: Final = 300.0
_known: dict[int, tuple[float, bool]] = {}


async def available(plugin: PluginContext) -> bool:
    """Tell whether the image generator can be used. The answer is remembered for five minutes."""
    key = id(plugin.services)
    asked, answer = _known.get(key, (float("-inf"), False))
    if time.monotonic() - asked < _ASK_AGAIN:
        return answer
    try:
        await plugin.services.tools.make_file(GENERATOR, {})
    except NotFound:
        answer = False
    except CallError:
        answer = True  # it is there, and wants parameters
    except RuntimeError:
        return False  # the server still starts
    _known[key] = (time.monotonic(), answer)
    return answer


async def card(
    plugin: PluginContext, *, title: str, subtitle: str, site_name: str, author: str, eyebrow: str
) -> tuple[bytes, str]:
    """Return the picture and its media type; the generator keeps it for the next time. Raises `NotFound`."""
    props = {
        "title": _cut(title, 200),
        "subtitle": _cut(subtitle, 300),
        "siteName": _cut(site_name, 60),
        "author": _cut(author, 80),
        "eyebrow": _cut(eyebrow, 60),
    }
    try:
        return await plugin.services.tools.make_file(
            GENERATOR, {"template": "og", "props": {name: text for name, text in props.items() if text}}
        )
    except CallError as error:
        log.warning("a picture of a post could not be made", error=error.message)
        raise NotFound("there is no picture of this post") from error


def _cut(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"
