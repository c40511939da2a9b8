"""From a template and its props to HTML.

A template is given these names:

- `props`: the texts and URLs, see `TemplateProps`. An image that could not be fetched is left out.
- `colors`: the theme's colours, see `Palette`.
- `photo_colors`: the colours of texts on a photo that is shaded with `photo_colors.ground`.
- `width`, `height`: the size of the image in pixels.
- `unit`: how many pixels one pixel at the template's own size is now.
- `px(number)`: a CSS length, from a length at the template's own size.
- `right_to_left`: whether the title is written from right to left.
- `scale(largest, smallest, …)`: the range of text sizes, see `Scale`; given at the template's own size.
- `set_copy(width, height, scale, eyebrow=True)`: eyebrow, title and subtitle, fitted into an area of this size in
  pixels, see `Copy`.
- `fit(text, width, height, scale)`: another text, fitted into an area in the same way, see `TypesetText`.
- `one_line(text, width, size, weight=400, tracking=0)`: a line, cut where it is too wide, see `Lines`.
- `line_width(lines)`: how wide it is.
"""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pressroom_image_generator.palette import palette, photo_palette
from pressroom_image_generator.params import TemplateProps
from pressroom_image_generator.sizes import Size
from pressroom_image_generator.templates import FILE, FOLDER
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


def expand(folder: Path, props: TemplateProps, size: Size, natural: Size) -> str:
    """Return the HTML of a template.

    Args:
        folder: holds `template.html`.
        props: what it shows.
        size: the size of the image.
        natural: the template's own size.

    Raises:
        jinja2.TemplateError: the template is wrong.
    """
    shown = _promoted(props)
    unit = min(size.width / natural.width, size.height / natural.height)
    return (
        _environment(folder)
        .get_template(FILE)
        .render(
            props=shown,
            colors=palette(shown.theme, shown.accentColor, shown.backgroundColor),
            photo_colors=photo_palette(shown.theme, shown.accentColor, shown.backgroundColor),
            width=size.width,
            height=size.height,
            unit=unit,
            px=partial(_px, unit),
            right_to_left=is_right_to_left(shown.title),
            scale=partial(_scale, unit),
            set_copy=partial(_set_copy, shown),
            fit=fit_text,
            one_line=one_line,
            line_width=line_width,
        )
    )


def _promoted(props: TemplateProps) -> TemplateProps:
    """Use the next text as the title if it is missing."""
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
