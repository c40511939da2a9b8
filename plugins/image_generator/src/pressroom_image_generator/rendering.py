"""From parameters to the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pressroom.graphics.jpeg import encode_jpeg
from pressroom.graphics.png import encode_png
from pressroom.sdk import Artifact

from pressroom_image_generator import engine
from pressroom_image_generator.engine.notes import Notes, shown
from pressroom_image_generator.engine.sources import Sources
from pressroom_image_generator.expanding import expand
from pressroom_image_generator.images import RemoteImages
from pressroom_image_generator.missing_glyphs import without_missing
from pressroom_image_generator.params import ImageDetails, ImageParams, TemplateProps
from pressroom_image_generator.preparing import IMAGE_PROPS, WorkerInput
from pressroom_image_generator.sizes import HTML_SIZE, Size
from pressroom_image_generator.templates import BUILT_IN, FOLDER

MAX_WARNINGS: Final = 20


def render(params: ImageParams, prepared: WorkerInput) -> Artifact:
    """Return the image that the parameters describe.

    Raises:
        InvalidInput: the HTML cannot be drawn.
    """
    contents = prepared.images.contents
    if params.html is not None:
        html, size = params.html, params.size(HTML_SIZE)
        rendered = engine.render(html, size.width, size.height, images=contents)
    else:
        html, size, rendered = _from_template(params, prepared)
    photographic = "<img" in html.lower() or "data:image/" in html
    image = rendered.image
    return Artifact(
        content=encode_png(image, photographic=photographic) if params.format == "png" else encode_jpeg(image),
        media_type=f"image/{params.format}",
        details=ImageDetails(width=size.width, height=size.height, format=params.format),
        warnings=_bounded([*prepared.images.warnings, *_others(rendered.warnings, prepared.images)]),
    )


def _from_template(params: ImageParams, prepared: WorkerInput) -> tuple[str, Size, engine.RenderedImage]:
    """Return a template's HTML, its size and the image. Images that cannot be drawn are left out of the layout."""
    if prepared.template is not None:
        folder, natural = prepared.template.folder, prepared.template.size
    else:
        folder, natural = FOLDER / str(params.template), BUILT_IN[str(params.template)]
    size = params.size(natural)
    contents = prepared.images.contents
    props, lost = without_missing(params.props or TemplateProps())
    html = expand(folder, props, size, natural)
    rendered = engine.render(html, size.width, size.height, images=contents)
    if rendered.warnings and (missing := _missing(props, contents)):
        html = expand(folder, props.model_copy(update=missing), size, natural)
        rendered = replace(engine.render(html, size.width, size.height, images=contents), warnings=rendered.warnings)
    return html, size, replace(rendered, warnings=(*rendered.warnings, *lost))


def _missing(props: TemplateProps, contents: Mapping[str, bytes | None]) -> dict[str, None]:
    sources = Sources(contents, Notes())
    named = {name: address for name in IMAGE_PROPS if (address := getattr(props, name))}
    return {name: None for name, address in named.items() if sources.named(address) is None}


def _others(warnings: Sequence[str], images: RemoteImages) -> list[str]:
    """Return the engine's warnings as sentences, without those on images whose failure has been reported already."""
    failed = [shown(address) for address, content in images.contents.items() if content is None]
    others = (one for one in warnings if not any(address in one for address in failed))
    return [one if one.endswith(".") else f"{one[:1].upper()}{one[1:]}." for one in others]


def _bounded(warnings: Sequence[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(warnings))
    if len(distinct) <= MAX_WARNINGS:
        return distinct
    return (*distinct[:MAX_WARNINGS], f"There are {len(distinct) - MAX_WARNINGS} more warnings.")
