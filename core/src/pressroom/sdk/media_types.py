"""Media types of files that generators declare beyond those that every server knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pressroom.sdk.call import EXTENSIONS

_MEDIA_TYPE: Final = re.compile(
    r"(application|audio|font|image|model|text|video)/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}", re.ASCII
)
"""A media type by RFC 6838, section 4.2, in lower case and without parameters."""

_EXTENSION: Final = re.compile(r"[a-z0-9]{1,16}", re.ASCII)

# An attachment in a sandbox is not run as a page. A page may still load it as a script or a style sheet, whatever its
# other headers say, and then it runs with the rights of this server's own files.
_LOADED_BY_PAGES: Final = re.compile(
    r"(application|text)/((x-)?(java|ecma|live)script|jscript)[0-9.]*|application/wasm|text/css", re.ASCII
)
_PAGES: Final = frozenset({"application/xhtml+xml", "application/vnd.wap.xhtml+xml", "multipart/related"})
_RUN_BY_BROWSERS: Final = frozenset(
    {"css", "htm", "js", "cjs", "mjs", "mht", "mhtml", "shtml", "svgz", "wasm", "xht", "xhtml", "xsl", "xslt"}
)


def media_type_problems(produces: Iterable[str], extensions: Mapping[Any, Any]) -> Iterator[str]:
    """Yield what is wrong with the media types of a generator and the extensions that it declares."""
    produces = tuple(produces)
    for media_type in produces:
        if media_type not in EXTENSIONS and media_type not in extensions:
            yield (
                f"produces: {media_type!r} has no known file extension; name it in extensions, such as "
                f'{{"text/csv": "csv"}}. Known without that are {", ".join(EXTENSIONS)}'
            )
    taken: dict[Any, Any] = {extension: media_type for media_type, extension in EXTENSIONS.items()}
    for media_type, extension in extensions.items():
        if not isinstance(media_type, str) or not isinstance(extension, str):
            yield f"extensions must map media types to extensions as texts (got {media_type!r}: {extension!r})"
            continue
        yield from (f"extensions: {problem}" for problem in _problems(media_type, extension))
        if media_type not in produces:
            yield f"extensions: {media_type!r} is not in produces"
        if media_type in EXTENSIONS:
            yield f"extensions: {media_type!r} has the extension {EXTENSIONS[media_type]!r} already; leave it out"
        elif extension in taken:
            yield f"extensions: {extension!r} is the extension of {taken[extension]!r}"
        taken.setdefault(extension, media_type)


def _problems(media_type: str, extension: str) -> Iterator[str]:
    if not _MEDIA_TYPE.fullmatch(media_type):
        yield f"{media_type!r} is not a media type such as text/csv, in lower case and without parameters"
    elif media_type in _PAGES or _LOADED_BY_PAGES.fullmatch(media_type):
        yield f"{media_type!r} is refused, since browsers would run it as a part of this server's pages"
    if not _EXTENSION.fullmatch(extension):
        yield f"{extension!r} is not an extension: 1 to 16 lower-case letters and digits, without a dot"
    elif extension in _RUN_BY_BROWSERS:
        yield f"{extension!r} is refused, since browsers run files that are called so"
