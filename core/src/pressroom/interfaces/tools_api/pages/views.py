"""View models for the templates, with all values already computed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final
from urllib.parse import quote

from pydantic.alias_generators import to_camel

from pressroom.http.page_frame import safe_link
from pressroom.interfaces.tools_api.pages.fields import number_bounds, number_text
from pressroom.interfaces.tools_api.pages.forms import (
    Descriptor,
    Param,
    first_endpoint,
    form_from_input,
    members_of,
    text_of,
)
from pressroom.sdk import EditableText

LINK_LIFETIME: Final = "3 hours"

_PERIODS: Final = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """An error that a client can receive: its status, its code and what to do."""

    status: int
    code: str
    meaning: str


ERRORS: Final = (
    ErrorRow(400, "invalid_json", "The body is not a JSON object. Send one, in UTF-8."),
    ErrorRow(400, "validation_error", "A parameter is missing, unknown or out of bounds. The message names it."),
    ErrorRow(404, "not_found", "There is no such tool, or it is switched off."),
    ErrorRow(405, "method_not_allowed", "Send the request with POST."),
    ErrorRow(413, "payload_too_large", "The body is too large."),
    ErrorRow(415, "unsupported_media_type", "Send the header Content-Type: application/json."),
    ErrorRow(429, "rate_limited", "The limit is used up. Wait retryAfter seconds, then try again."),
    ErrorRow(500, "internal_error", "The server failed. The call was not counted; try again later."),
    ErrorRow(503, "overloaded", "The server is busy. Wait retryAfter seconds, then try again."),
    ErrorRow(503, "timeout", "The call took too long. Request less, such as a smaller image."),
)
"""Errors of a call, ordered by status."""


MEDIUM: Final = (800, 800)
"""Maximum width and height of the canvas on small screens, in pixels."""


@dataclass(frozen=True, slots=True)
class ImageUrls:
    """The URLs of a tool's images, relative to the tool's own URL.

    `examples` are those of the examples. The first example is also available as `card`, for the list of tools, as
    `canvas` in full, and as `canvas_medium` within `MEDIUM`. `choices` holds images of parameter values, by parameter
    name and value.
    """

    examples: tuple[str, ...] = ()
    card: str = ""
    canvas: str = ""
    canvas_medium: str = ""
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExampleView:
    """An example: its title, a link that fills the form without JavaScript, and the values for the script.

    `image` is the URL of its image, empty for a tool without images.
    """

    title: str
    href: str
    values: str
    image: str = ""


@dataclass(frozen=True, slots=True)
class ParamRow:
    """A row of the parameter table."""

    name: str
    type: str
    required: bool
    description: str
    bounds: str
    default: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EndpointView:
    """An endpoint of a tool with its parameters and the media types of its response."""

    method: str
    href: str
    url: str
    summary: str
    description: str
    media_types: tuple[str, ...]
    params: tuple[ParamRow, ...]
    discount: str


@dataclass(frozen=True, slots=True)
class ToolView:
    """A tool for the list of tools and for its own page.

    `card`, `canvas` and `canvas_medium` are URLs of the first example, as in `ImageUrls`. `icons` is whether its images
    are icon sheets.
    """

    slug: str
    name: str
    summary: str
    description: str
    href: str
    descriptor_href: str
    tags: tuple[str, ...]
    rate: str
    notes: tuple[str, ...]
    use_cases: tuple[str, ...]
    pitch: str
    pitch_title: str
    pitch_href: str
    examples: tuple[ExampleView, ...]
    endpoints: tuple[EndpointView, ...]
    card: str = ""
    canvas: str = ""
    canvas_medium: str = ""
    icons: bool = False


def period(seconds: int) -> str:
    """Return a duration in the largest unit that divides it: 3600 is `hour`, 7200 is `2 hours`."""
    size, unit = next((size, unit) for size, unit in _PERIODS if seconds % size == 0)
    count = seconds // size
    return unit if count == 1 else f"{count:,} {unit}s"


def rate_in_words(rate: Mapping[str, int] | None) -> str:
    """Return a descriptor's rate limit as text: `300 requests per hour`. Without a limit, it is empty."""
    if rate is None:
        return ""
    count = rate["requests"]
    return f"{count:,} request{'' if count == 1 else 's'} per {period(rate['windowSec'])}"


def tool_view(descriptor: Descriptor, base_url: str, root: str, images: ImageUrls = ImageUrls()) -> ToolView:
    """Return the view of a descriptor.

    Args:
        descriptor: as in the interface contract, section 2.10.
        base_url: the server's public URL.
        root: the path of that URL, which prefixes links on the pages.
        images: the URLs of the tool's images, relative to the page's URL.
    """
    first = first_endpoint(descriptor)
    promo = descriptor.get("promo") or {}
    api = _path(descriptor["apiBaseUrl"])
    href = root + _path(descriptor["pageUrl"])
    return ToolView(
        slug=descriptor["slug"],
        name=descriptor["name"],
        summary=first.get("summary") or first_sentence(descriptor["description"]),
        description=descriptor["description"],
        href=href,
        descriptor_href=root + api,
        tags=tuple(descriptor.get("tags") or ()),
        rate=rate_in_words(descriptor["rateLimit"]),
        notes=tuple(descriptor.get("notes") or ()),
        use_cases=tuple(promo.get("useCases") or ()),
        pitch=promo.get("description") or "",
        pitch_title=promo.get("tagline") or descriptor["name"],
        pitch_href=safe_link(promo.get("ctaUrl") or ""),
        examples=tuple(_examples(first, href, images.examples)),
        endpoints=tuple(
            _endpoint(endpoint, root + api, base_url + api) for endpoint in descriptor.get("endpoints") or ()
        ),
        card=f"{href}/{images.card}" if images.card else "",
        canvas=f"{href}/{images.canvas}" if images.canvas else "",
        canvas_medium=f"{href}/{images.canvas_medium}" if images.canvas_medium else "",
    )


def _path(path: str) -> str:
    return quote(path if path.startswith("/") else f"/{path}", safe="/")


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    return re.split(r"(?<=[.!?])\s", text.strip(), maxsplit=1)[0]


def _examples(endpoint: Mapping[str, Any], href: str, images: Sequence[str]) -> Iterable[ExampleView]:
    params = endpoint.get("params", ())
    for number, example in enumerate(endpoint.get("examples") or ()):
        texts = {name: values[-1] for name, values in form_from_input(params, example["params"]).items()}
        yield ExampleView(
            title=example["title"],
            href=f"{href}?example={number}",
            values=json.dumps(texts, ensure_ascii=False),
            image=f"{href}/{images[number]}" if number < len(images) else "",
        )


def _endpoint(endpoint: Mapping[str, Any], api_href: str, api_url: str) -> EndpointView:
    path = _path(endpoint["path"])
    return EndpointView(
        method=endpoint.get("method", "POST"),
        href=api_href + path,
        url=api_url + path,
        summary=endpoint.get("summary") or "",
        description=endpoint.get("description") or "",
        media_types=tuple(endpoint.get("responseContentType") or ()),
        params=tuple(_rows(endpoint.get("params", ()))),
        discount=number_text(endpoint.get("cacheDiscount")),
    )


def _rows(params: Iterable[Param]) -> Iterable[ParamRow]:
    for param in params:
        yield _row(param)
        yield from map(_row, members_of(param))


def _row(param: Param) -> ParamRow:
    default = param.get("default")
    return ParamRow(
        name=param["name"],
        type="list of strings" if param.get("list") else param["type"],
        required=bool(param.get("required")),
        description=param.get("description") or "",
        bounds=_text_bounds(param) if param["type"] == "string" else number_bounds(param),
        default="" if default is None else text_of(default) or '""',
        choices=tuple(text_of(choice) for choice in param.get("enumValues") or ()),
    )


def _text_bounds(param: Param) -> str:
    return f"At most {int(param['max']):,} characters" if param.get("max") else ""


def editable_json(text: EditableText) -> str:
    """Return the location of an editable text in an image as JSON in ASCII for the page's script."""
    return json.dumps({to_camel(name): value for name, value in asdict(text).items()}, separators=(",", ":"))
