"""What a generator declares about its page: the parts of the form, the fields for files, and texts to copy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel

from pressroom.sdk.declaration import Params

MAX_MODES: Final = 4
MAX_CASES: Final = 10
PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_]\w*)\}", re.ASCII)

_FILE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif", "image/avif", "image/svg+xml"})


@dataclass(frozen=True, slots=True)
class Preview:
    """How a generator's page shows the result.

    `kind` is either `image`, for the file itself or the `preview` of its artifact, or `icons`, for a browser tab, a
    phone's home screen and a search result with the icons of `Artifact.preview`, an image that
    `pressroom.graphics.icons.icon_sheet` creates. Pages update the preview as users type; set `live` to do so for a
    generator whose files are not images.
    """

    kind: Literal["image", "icons"] = "image"
    live: bool = False


@dataclass(frozen=True, slots=True)
class Mode:
    """One of several modes of a generator. The form shows one mode at a time.

    `params` names the parameters that only belong to this mode; none of them may be required.
    """

    title: str
    params: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormCase:
    """What the form shows while the parameter `Page.switch` has a certain value.

    `title` is the name of that value for people. `params` names the parameters that are only relevant in this case,
    with fields of objects written as `content.password`; a parameter may be in several cases. `labels` are the names of
    fields in this case, by parameter. `sample` has texts for fields that are still empty, so that there is something to
    see.
    """

    value: str
    title: str
    params: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    sample: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class FormSection:
    """Fields under their own heading, which users can open and close.

    `params` names optional parameters, with fields of objects written as `props.title`. They must all belong to the
    same mode, or to none.
    """

    title: str
    params: tuple[str, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class FileField:
    """A text parameter that takes a file as a `data:` URL: users choose the file or drop it.

    `media_types` are the image types that the parameter accepts. Other images, and images that are too large for
    `max_length`, are converted in the browser. `urls` means that it also accepts the URL of an image.
    """

    param: str
    media_types: tuple[str, ...]
    urls: bool = False


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text to copy and paste somewhere else, such as the tags that show an image.

    In `text`, `{name}` is replaced by that field of the response's `data`, such as `{url}`, escaped for HTML. `note` is
    what users should know before they paste it.
    """

    title: str
    text: str
    note: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that the text uses."""
        return tuple(dict.fromkeys(PLACEHOLDER.findall(self.text)))


@dataclass(frozen=True, slots=True)
class Page:
    """What a generator's page has in addition to a form, a result and the reference.

    With `gallery`, the page shows images of the examples although the files are not images; each artifact then needs a
    `preview`. `modes` divides the form if parameters exclude each other. `snippets` are texts to copy. `sample` is an
    instance of the generator's `details`, which the page shows before there is a result.

    `switch` names a parameter with a few values that decides which other parameters the form shows, according to
    `cases`. `sections` are groups of fields that users can open. `files` are the fields that take a file. `labels` are
    the names of fields, by parameter; `values` are the names of values, by parameter and value. `thumbnails` has, by
    parameter, the input that shows the parameter's values best; by default, an example is used.
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
    """Return what is wrong with the form that a page declares, a sentence each."""
    return [f"page: {problem}" for problem in (*_mode_problems(page, params), *_field_problems(page, params))]


def _mode_problems(page: Page, params: type[Params] | None) -> Iterator[str]:
    if len(page.modes) > MAX_MODES or len(page.modes) == 1:
        yield f"there must be 2 to {MAX_MODES} modes, or none (got {len(page.modes)})"
    fields = params.model_fields if params is not None else {}
    divided = [name for mode in page.modes for name in mode.params]
    for name in dict.fromkeys(divided):
        if name not in fields:
            yield f"a mode names {name!r}, which is not a parameter"
        elif fields[name].is_required() or divided.count(name) > 1:
            yield f"{name!r} can belong to one mode only, and must not be required"


def _field_problems(page: Page, params: type[Params] | None) -> Iterator[str]:
    known = set(_paths(params)) if params is not None else set()
    named = {
        "switch": (page.switch,) if page.switch else (),
        "cases": [name for case in page.cases for name in (*case.params, *case.labels, *case.sample)],
        "sections": [name for section in page.sections for name in section.params],
        "files": [one.param for one in page.files],
        "labels": page.labels,
        "values": page.values,
        "thumbnails": page.thumbnails,
    }
    for where, names in named.items():
        yield from (f"{where}: {name!r} is not a parameter" for name in dict.fromkeys(names) if name not in known)
    if bool(page.switch) != bool(page.cases) or len(page.cases) > MAX_CASES:
        yield f"a switch needs 1 to {MAX_CASES} cases, and cases need a switch"
    sectioned = [name for section in page.sections for name in section.params]
    yield from (f"sections: {name!r} is in two" for name in dict.fromkeys(sectioned) if sectioned.count(name) > 1)
    modes = {name: mode.title for mode in page.modes for name in mode.params}
    for section in page.sections:
        if len({modes.get(name.partition(".")[0]) for name in section.params}) > 1:
            yield f"sections: {section.title!r} has parameters of several modes"
    for one in page.files:
        if strange := ", ".join(sorted(set(one.media_types) - _FILE_TYPES)) or ("" if one.media_types else "nothing"):
            yield f"files: {one.param!r} takes {strange}; known are {', '.join(sorted(_FILE_TYPES))}"


def _paths(params: type[Params]) -> Iterator[str]:
    """Yield the names that fields can have: of parameters, and of the members of objects."""
    for name, info in params.model_fields.items():
        yield name
        for one in (info.annotation, *get_args(info.annotation)):
            if isinstance(one, type) and issubclass(one, BaseModel):
                yield from (f"{name}.{member}" for member in one.model_fields)
