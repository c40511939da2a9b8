"""Declarations for a generator's page: the layout of the form, file fields, and snippets to copy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pressroom.sdk.declaration import Params, sent_fields

MAX_MODES: Final = 4
MAX_CASES: Final = 10
PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_]\w*)\}", re.ASCII)

_FILE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif", "image/avif", "image/svg+xml"})


@dataclass(frozen=True, slots=True)
class Preview:
    """How a generator's page shows the result.

    `kind` is `image` to show the file itself or the `preview` of its artifact, or `icons` to show a browser tab, a
    phone's home screen and a search result with the icons of `Artifact.preview`, a sheet created by
    `pressroom.graphics.icons.icon_sheet`. Pages update the preview as users type; set `live` to do so for a generator
    whose files are not images.
    """

    kind: Literal["image", "icons"] = "image"
    live: bool = False


@dataclass(frozen=True, slots=True)
class Mode:
    """One of several modes of a generator. The form shows one mode at a time.

    `params` lists the parameters that only belong to this mode; none of them can be required.
    """

    title: str
    params: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormCase:
    """The form fields to show for one value of the parameter `Page.switch`.

    `title` is the display name of that value. `params` lists the parameters that are only relevant in this case, with
    fields of objects written as `content.password`; a parameter can be in several cases. `labels` maps parameters to
    field labels for this case. `sample` maps parameters to texts that fill untouched fields when users switch to this
    case.
    """

    value: str
    title: str
    params: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    sample: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class FormSection:
    """A collapsible group of fields under its own heading.

    `params` lists optional parameters, with fields of objects written as `props.title`. They must all belong to the
    same mode, or to none. With `open`, the group starts expanded.
    """

    title: str
    params: tuple[str, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class FileField:
    """A text parameter that accepts a file as a `data:` URL: users choose or drop the file.

    `media_types` are the image types that the parameter accepts. Other images, and images that are too large for
    `max_length`, are converted in the browser. With `urls`, the parameter also accepts the URL of an image.
    """

    param: str
    media_types: tuple[str, ...]
    urls: bool = False


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text to copy, such as the HTML tags that embed an image.

    In `text`, `{name}` is replaced with that field of the response's `data`, such as `{url}`, escaped for HTML. `note`
    tells users what to consider before they paste it.
    """

    title: str
    text: str
    note: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields that `text` uses."""
        return tuple(dict.fromkeys(PLACEHOLDER.findall(self.text)))


@dataclass(frozen=True, slots=True)
class Page:
    """Options for a generator's page, beyond the form, result and reference that every page has.

    With `gallery`, the page shows images of the examples even if the files are not images; each artifact then needs a
    `preview`. `modes` divides the form if parameters are mutually exclusive. `snippets` are texts to copy. `sample` is
    an instance of the generator's `details`, which the page shows before there is a result.

    `switch` is the name of a parameter with a few values that decides which other parameters the form shows, according
    to `cases`. `sections` are groups of fields that users can open. `files` are the fields that accept a file. `labels`
    maps parameters to field labels; `values` maps parameters and their values to display names. `thumbnails` maps
    parameters to the input that shows their values best; by default, an example is used.
    """

    gallery: bool = False
    modes: tuple[Mode, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    sample: BaseModel | None = None
    switch: str = ""
    cases: tuple[FormCase, ...] = ()
    sections: tuple[FormSection, ...] = ()
    files: tuple[FileField, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    thumbnails: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)


def form_problems(page: Page, params: type[Params] | None) -> list[str]:
    """Return the problems with the form that a page declares, one sentence each."""
    return [f"page: {problem}" for problem in (*_mode_problems(page, params), *_field_problems(page, params))]


def _mode_problems(page: Page, params: type[Params] | None) -> Iterator[str]:
    if len(page.modes) > MAX_MODES or len(page.modes) == 1:
        yield f"there must be 2 to {MAX_MODES} modes, or none (got {len(page.modes)})"
    fields = sent_fields(params) if params is not None else {}
    divided = [name for mode in page.modes for name in mode.params]
    for name in dict.fromkeys(divided):
        if name not in fields:
            yield f"a mode names {name!r}, which is not a parameter"
        elif fields[name].is_required() or divided.count(name) > 1:
            yield f"{name!r} can belong to one mode only, and must not be required"


def _field_problems(page: Page, params: type[Params] | None) -> Iterator[str]:
    known = dict(_paths(params)) if params is not None else {}
    names_by_setting = {
        "switch": (page.switch,) if page.switch else (),
        "cases": [name for case in page.cases for name in (*case.params, *case.labels, *case.sample)],
        "sections": [name for section in page.sections for name in section.params],
        "files": [file.param for file in page.files],
        "labels": page.labels,
        "values": page.values,
        "thumbnails": page.thumbnails,
    }
    for setting, names in names_by_setting.items():
        yield from (f"{setting}: {name!r} is not a parameter" for name in dict.fromkeys(names) if name not in known)
    if bool(page.switch) != bool(page.cases) or len(page.cases) > MAX_CASES:
        yield f"a switch needs 1 to {MAX_CASES} cases, and cases need a switch"
    sectioned = [name for section in page.sections for name in section.params]
    for name in dict.fromkeys(sectioned):
        if sectioned.count(name) > 1:
            yield f"sections: {name!r} is in two"
        if name in known and known[name].is_required():
            yield f"sections: {name!r} must not be required"
    modes = {name: mode.title for mode in page.modes for name in mode.params}
    for section in page.sections:
        if len({modes.get(name.partition(".")[0]) for name in section.params}) > 1:
            yield f"sections: {section.title!r} has parameters of several modes"
    for file in page.files:
        if unknown := ", ".join(sorted(set(file.media_types) - _FILE_TYPES)) or ("" if file.media_types else "nothing"):
            yield f"files: {file.param!r} takes {unknown}; known are {', '.join(sorted(_FILE_TYPES))}"


def _paths(params: type[Params]) -> Iterator[tuple[str, FieldInfo]]:
    """Yield all valid paths with their fields: parameters, and the members of parameters that are objects."""
    for name, info in sent_fields(params).items():
        yield name, info
        for annotation in (info.annotation, *get_args(info.annotation)):
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                yield from ((f"{name}.{member}", inner) for member, inner in sent_fields(annotation).items())
