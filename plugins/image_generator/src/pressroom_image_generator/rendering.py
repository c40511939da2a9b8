"""From parameters to the file: a template and its props become HTML, and HTML becomes the image.

Templates have these variables:

- `props`: the texts and URLs, see `TemplateProps`. An image that could not be fetched is left out.
- `colors`: the theme's colours, see `Palette`.
- `photo_colors`: the colours for text on a photo that is shaded with `photo_colors.ground`.
- `width`, `height`: the size of the image in pixels.
- `unit`: pixels of the image per pixel of the template's own size.
- `px(number)`: converts a length at the template's own size to a CSS length.
- `right_to_left`: whether the title is written from right to left.
- `scale(largest, smallest, …)`: the range of text sizes, see `Scale`; given at the template's own size.
- `set_copy(width, height, scale, eyebrow=True)`: eyebrow, title and subtitle, fitted into an area of this size in
  pixels, see `Copy`.
- `fit(text, width, height, scale)`: another text, fitted into an area in the same way, see `TypesetText`.
- `one_line(text, width, size, weight=400, tracking=0)`: a single line, truncated if it is too wide, see `TypesetText`.
- `line_width(lines)`: width of the widest line.
- `items`: the list in `props`, for templates that do not show all of it, see `ShownItems`.

Characters that no font has are removed from a template's texts, so that link previews never show boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pressroom.graphics.jpeg import encode_jpeg
from pressroom.graphics.png import encode_png
from pressroom.graphics.segments import grapheme_clusters
from pressroom.graphics.text import missing_characters
from pressroom.sdk import Artifact, InvalidInput

from pressroom_image_generator import engine
from pressroom_image_generator.engine.notes import Notes
from pressroom_image_generator.engine.sources import Sources, not_loaded
from pressroom_image_generator.palette import palette, photo_palette
from pressroom_image_generator.params import ImageDetails, ImageParams, TemplateProps, visible_text
from pressroom_image_generator.preparation import IMAGE_PROPS, RemoteImages, WorkerInput
from pressroom_image_generator.templates import BUILT_IN, FILE, FOLDER, HTML_SIZE, Size
from pressroom_image_generator.typesetting import (
    Copy,
    Scale,
    fit_text,
    is_right_to_left,
    line_width,
    one_line,
    set_copy,
)

_LENGTHS: Final = ("largest", "smallest", "subtitle_largest")

_MAX_NAMED: Final = 12
"""Maximum number of characters listed in a warning."""

MAX_WARNINGS: Final = 20

MAX_FILE_BYTES: Final = 24_000_000
"""Maximum file size in bytes: a PNG of any image fits at a scale of 1, whatever its content."""


class ShownItems:
    """The items of a template, which counts those that it leaves out."""

    def __init__(self, items: tuple[str, ...]) -> None:
        self._items = items
        self._left_out = 0

    def first(self, number: int) -> tuple[str, ...]:
        """Return the items that the template shows."""
        self._left_out = max(0, len(self._items) - number)
        return self._items[:number]

    def skip(self) -> str:
        """Leave out one more item. Returns an empty string, so that templates can call it in an expression."""
        self._left_out += 1
        return ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """A warning if items are left out."""
        if not self._left_out:
            return ()
        verb = "is" if self._left_out == 1 else "are"
        return (f"props.items: {self._left_out} of {len(self._items)} {verb} left out; this template shows no more.",)


def expand(folder: Path, props: TemplateProps, size: Size, natural: Size, items: ShownItems | None = None) -> str:
    """Return the HTML of a template.

    Args:
        folder: folder that contains `template.html`.
        props: content of the image.
        size: size of the image.
        natural: the template's own size.
        items: the items in `props`.

    Raises:
        jinja2.TemplateError: the template is invalid.
    """
    promoted = _promoted(props)
    unit = min(size.width / natural.width, size.height / natural.height)
    return (
        _environment(folder)
        .get_template(FILE)
        .render(
            props=promoted,
            colors=palette(promoted.theme, promoted.accentColor, promoted.backgroundColor),
            photo_colors=photo_palette(promoted.theme, promoted.accentColor, promoted.backgroundColor),
            width=size.width,
            height=size.height,
            unit=unit,
            px=partial(_px, unit),
            right_to_left=is_right_to_left(promoted.title),
            scale=partial(_scale, unit),
            set_copy=partial(_set_copy, promoted),
            fit=fit_text,
            one_line=one_line,
            line_width=line_width,
            items=items or ShownItems(promoted.items),
        )
    )


def _promoted(props: TemplateProps) -> TemplateProps:
    """Use the next available text as the title if it is missing."""
    for name in ("title", "subtitle", "siteName", "author", "eyebrow"):
        if text := getattr(props, name):
            return props.model_copy(update={name: "", "title": text})
    return props


def _px(unit: float, number: float) -> str:
    return f"{number * unit:.2f}px"


def _scale(unit: float, largest: float, smallest: float, **options: Any) -> Scale:
    lengths = {"largest": largest, "smallest": smallest, **options}
    for name in _LENGTHS:
        if name in lengths:
            lengths[name] *= unit
    return Scale(**lengths)


def _set_copy(props: TemplateProps, width: float, height: float, scale: Scale, *, eyebrow: bool = True) -> Copy:
    return set_copy(props.eyebrow if eyebrow else "", props.title, props.subtitle, width, height, scale)


@lru_cache(maxsize=64)
def _environment(folder: Path) -> Environment:
    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader([folder, FOLDER]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def without_missing(props: TemplateProps) -> tuple[TemplateProps, tuple[str, ...]]:
    """Return the props without missing characters, and a warning for each text that lost any."""
    changes: dict[str, str | tuple[str, ...]] = {}
    warnings: list[str] = []
    for name, text in props.texts():
        if missing := missing_characters(text):
            changes[name] = _without(text, missing)
            warnings.append(_warning(name, missing, empty=not changes[name]))
    if missing := missing_characters(" ".join(props.items)):
        changes["items"] = tuple(stripped for item in props.items if (stripped := _without(item, missing)))
        warnings.append(_warning("items", missing, empty=not changes["items"]))
    return (props.model_copy(update=changes) if changes else props), tuple(warnings)


def _without(text: str, missing: tuple[str, ...]) -> str:
    missing_set = frozenset(missing)
    return visible_text("".join(cluster for cluster in grapheme_clusters(text) if missing_set.isdisjoint(cluster)))


def _warning(name: str, missing: tuple[str, ...], *, empty: bool) -> str:
    more = f" and {len(missing) - _MAX_NAMED} more" if len(missing) > _MAX_NAMED else ""
    # Characters unknown to this Python's Unicode version are not printable.
    characters = (
        character if character.isprintable() else f"(U+{ord(character):04X})" for character in missing[:_MAX_NAMED]
    )
    description = f'"{"".join(characters)}"{more}'
    consequence = (
        "the whole text is left out" if empty else "they are left out" if len(missing) > 1 else "it is left out"
    )
    return f"props.{name}: no font of this server has {description}; {consequence}. Its operator can add a font."


def render(params: ImageParams, prepared: WorkerInput) -> Artifact:
    """Render the image for the parameters.

    Raises:
        InvalidInput: the HTML cannot be drawn, or the file is too large.
    """
    contents = prepared.images.contents
    if params.html is not None:
        html = params.html
        rendered = engine.render(html, *params.size(HTML_SIZE), density=params.scale, images=contents)
    else:
        html, rendered = _from_template(params, prepared)
    photographic = "<img" in html.lower() or "data:image/" in html
    image = rendered.image
    content = encode_png(image, photographic=photographic) if params.format == "png" else encode_jpeg(image)
    if len(content) > MAX_FILE_BYTES:
        raise InvalidInput(
            "scale",
            f"makes a file of {len(content) // 10**6} MB, which is more than {MAX_FILE_BYTES // 10**6} MB; give a "
            "smaller scale, width or height, or ask for jpeg",
        )
    return Artifact(
        content=content,
        media_type=f"image/{params.format}",
        details=ImageDetails(width=image.width, height=image.height, format=params.format),
        warnings=_bounded([*prepared.images.warnings, *_others(rendered.warnings, prepared.images)]),
    )


def _from_template(params: ImageParams, prepared: WorkerInput) -> tuple[str, engine.RenderedImage]:
    """Return a template's HTML and image. Images that cannot be drawn are left out of the layout."""
    if prepared.template is not None:
        folder, natural = prepared.template.folder, prepared.template.size
    else:
        folder, natural = FOLDER / str(params.template), BUILT_IN[str(params.template)]
    size = params.size(natural)
    contents = prepared.images.contents
    props, text_warnings = without_missing(params.props or TemplateProps())
    items = ShownItems(props.items)
    html = expand(folder, props, size, natural, items)
    rendered = engine.render(html, *size, density=params.scale, images=contents)
    if rendered.warnings and (missing := _missing(props, contents)):
        html = expand(folder, props.model_copy(update=missing), size, natural, items)
        second_render = engine.render(html, *size, density=params.scale, images=contents)
        rendered = replace(second_render, warnings=rendered.warnings)
    return html, replace(rendered, warnings=(*rendered.warnings, *text_warnings, *items.warnings))


def _missing(props: TemplateProps, contents: Mapping[str, bytes | None]) -> dict[str, None]:
    sources = Sources(contents, Notes())
    urls = {name: url for name in IMAGE_PROPS if (url := getattr(props, name))}
    return {name: None for name, url in urls.items() if sources.named(url) is None}


def _others(warnings: Sequence[str], images: RemoteImages) -> list[str]:
    """Return the engine's warnings as sentences, without those for images that are already reported."""
    reported = {not_loaded(url) for url, content in images.contents.items() if content is None}
    remaining = (warning for warning in warnings if warning not in reported)
    return [warning if warning.endswith(".") else f"{warning[:1].upper()}{warning[1:]}." for warning in remaining]


def _bounded(warnings: Sequence[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(warnings))
    if len(distinct) <= MAX_WARNINGS:
        return distinct
    return (*distinct[:MAX_WARNINGS], f"There are {len(distinct) - MAX_WARNINGS} more warnings.")
