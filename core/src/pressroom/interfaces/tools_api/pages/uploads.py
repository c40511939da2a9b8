"""Convert uploaded files of a form to the `data:` URLs that parameters accept.

With JavaScript, the browser does this. The format names and limits are the same as in `uploads.js`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pressroom.errors import InvalidInput
from pressroom.graphics.image_types import type_of_image
from pressroom.interfaces.tools_api.pages.forms import Form, Param, form_params
from pressroom.sdk import UploadedFile

REMOVE: Final = "_remove"
"""The name of the checkboxes for removing files, which no parameter can have."""

_DEFAULT_LENGTH: Final = 200_000
_URL_HEADER_LENGTH: Final = 64
_NAMES: Final = {
    "image/avif": "AVIF",
    "image/gif": "GIF",
    "image/jpeg": "JPEG",
    "image/png": "PNG",
    "image/svg+xml": "SVG",
    "image/webp": "WebP",
}


def max_file_bytes(param: Param) -> int:
    """Return the maximum size in bytes of a file whose `data:` URL fits into a parameter's text."""
    return int((int(param.get("max") or _DEFAULT_LENGTH) - _URL_HEADER_LENGTH) * 0.75)


def kilobytes(count: int) -> str:
    """Format a number of bytes in kB."""
    return f"{max(1, round(count / 1000)):,} kB"


def formats_of(param: Param) -> str:
    """Return the names of the formats that a parameter accepts: `PNG, JPEG or WebP`."""
    *leading, last = [_NAMES.get(media_type, media_type) for media_type in param["files"]]
    return f"{', '.join(leading)} or {last}" if leading else last


def file_bounds(param: Param) -> str:
    """Describe the files that a parameter accepts: their formats, maximum size, and whether larger ones are shrunk."""
    exception = ", except SVG" if "image/svg+xml" in param["files"] else ""
    size = kilobytes(max_file_bytes(param))
    return f"{formats_of(param)}, up to {size}; larger images are made smaller{exception}"


def file_in_words(text: str) -> str:
    """Return format and size of the file in a `data:` URL; empty for other texts."""
    if not text.startswith("data:"):
        return ""
    media_type = text[5:40].partition(";")[0].lower()
    return f"{_NAMES.get(media_type, 'Image')}, {kilobytes(int(len(text) * 0.75))}"


def with_files(
    params: Sequence[Param], form: Form, files: Mapping[str, Sequence[UploadedFile]]
) -> tuple[dict[str, Sequence[str]], InvalidInput | None]:
    """Merge uploaded files into a form as texts. Return the form, and the first error or `None`.

    A field whose file is rejected is emptied. Files that do not belong to a parameter are ignored.

    Args:
        params: the parameters of the endpoint's descriptor.
        form: the posted texts, including files of earlier attempts.
        files: the uploaded files by parameter name.
    """
    texts = {name: values for name, values in form.items() if name != REMOVE}
    problem: InvalidInput | None = None
    for param in form_params(params):
        name = param["name"]
        if name in form.get(REMOVE, ()):
            texts[name] = [""]
        if not (uploaded := files.get(name)):
            continue
        try:
            texts[name] = [_data_url(param, uploaded[-1].content)]
        except InvalidInput as error:
            texts[name] = [""]
            problem = problem or error
    return texts, problem


def too_large(params: Sequence[Param], files: Mapping[str, Sequence[UploadedFile]]) -> Iterator[tuple[Param, bytes]]:
    """Yield parameters with a file that is too large but can be scaled down, with its content."""
    for param in form_params(params):
        if "files" in param and (uploaded := files.get(param["name"])):
            content = uploaded[-1].content
            media_type = type_of_image(content)
            can_shrink = media_type in param["files"] and media_type != "image/svg+xml"
            if can_shrink and len(content) > max_file_bytes(param):
                yield param, content


def _data_url(param: Param, content: bytes) -> str:
    if "files" not in param:
        raise InvalidInput(param["name"], "takes a text, not a file")
    media_type = type_of_image(content)
    if media_type not in param["files"]:
        raise InvalidInput(param["name"], f"that file isn't a {formats_of(param)} image; choose another one")
    max_bytes = max_file_bytes(param)
    if len(content) > max_bytes:
        raise InvalidInput(
            param["name"],
            f"the file may have at most {kilobytes(max_bytes)} (got {kilobytes(len(content))}); choose a smaller image",
        )
    return f"data:{media_type};base64,{b64encode(content).decode('ascii')}"
