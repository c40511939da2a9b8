"""Card images: the link previews of pages without an image of their own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final
from weakref import WeakKeyDictionary

import structlog
from pressroom.sdk import CallError, NotFound, PluginContext

log = structlog.get_logger()

GENERATOR: Final = "image-generator"
WIDTH: Final = 1200
HEIGHT: Final = 630
_RECHECK_SECONDS: Final = 300.0
_MAX_SHOWN: Final = 10
_NAMES: Final = {"subtitle": "excerpt", "siteName": "name of the site", "author": "author", "eyebrow": "category"}
_AT_ONCE: Final = 2
"""The number of images drawn concurrently: readers of a large site must not delay the callers of generators."""

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
_known: dict[int, tuple[float, bool]] = {}


async def available(plugin: PluginContext) -> bool:
    """Check whether the image generator can be used. The result is cached for five minutes."""
    key = id(plugin.services)
    checked_at, is_available = _known.get(key, (float("-inf"), False))
    if time.monotonic() - checked_at < _RECHECK_SECONDS:
        return is_available
    try:
        await plugin.services.tools.make_file(GENERATOR, {})
    except NotFound:
        is_available = False
    except CallError:
        is_available = True  # it exists and rejects the empty parameters
    except RuntimeError:
        return False  # the server is still starting
    _known[key] = (time.monotonic(), is_available)
    return is_available


@dataclass(frozen=True, slots=True)
class Card:
    """The content of a post's image, and a warning about omitted parts.

    `props` are the parameters of the template; if empty, there is no image. `warning` names the characters that no font
    has.
    """

    props: Mapping[str, str]
    warning: str = ""


async def compose(*, title: str, subtitle: str, site_name: str, author: str, eyebrow: str) -> Card:
    """Return the card of a post. A text with characters that no font has is left out instead of drawn as boxes."""
    texts = {
        "title": _cut(title, 200),
        "subtitle": _cut(subtitle, 300),
        "siteName": _cut(site_name, 60),
        "author": _cut(author, 80),
        "eyebrow": _cut(eyebrow, 60),
    }
    return await asyncio.to_thread(_composed, {name: text for name, text in texts.items() if text})


async def draw(plugin: PluginContext, card: Card) -> tuple[bytes, str]:
    """Return the image and its media type; the generator caches it. Raises `NotFound`."""
    if not card.props:
        raise NotFound("there is no image of this post: no font of the server has the characters of its title")
    turns = _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_AT_ONCE))
    try:
        async with turns:
            return await plugin.services.tools.make_file(GENERATOR, {"template": "og", "props": dict(card.props)})
    except CallError as error:
        log.warning("an image of a post could not be made", error=error.message)
        raise NotFound("there is no image of this post") from error


def _composed(texts: Mapping[str, str]) -> Card:
    undrawable = {name: characters for name, text in texts.items() if (characters := _not_in_any_font(text))}
    if not undrawable:
        return Card(texts)
    characters = "".join(dict.fromkeys("".join(undrawable.values())))
    reason = f"no font of this server has {_shortened(characters)}; its operator can add one"
    drawable = {name: text for name, text in texts.items() if name not in undrawable}
    if "title" not in undrawable:
        left_out = " and ".join(_NAMES[name] for name in undrawable)
        return Card(drawable, f"the post's image for link previews leaves out the {left_out}: {reason}")
    if "siteName" not in drawable:
        return Card({}, f"the post has no image for link previews: {reason}")
    only_name = {"title": drawable["siteName"]}
    return Card(only_name, f"the post's image for link previews shows the name of the site only: {reason}")


def _not_in_any_font(text: str) -> str:
    """Return the characters that no font has; empty without the text shaping library, as there is no generator then."""
    if find_spec("uharfbuzz") is None:
        return ""
    from pressroom.graphics.text import TextStyle, default_library, shape  # noqa: PLC0415 - needs an extra

    return "".join(shape(text, TextStyle(16), default_library()).missing)


def _shortened(characters: str) -> str:
    more = len(characters) - _MAX_SHOWN
    return characters[:_MAX_SHOWN] + (f" and {more} more characters" if more > 0 else "")


def _cut(text: str, max_length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_length else f"{line[: max_length - 1].rstrip()}…"
