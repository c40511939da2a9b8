"""Names of files and URLs, of slugs in any script."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_MAX_SLUG_BYTES: Final = 120
"""Bytes of a slug in a file name: file systems take 255 of a name, and the whole path is an id of 200 characters."""


def file_name(name: str, otherwise: str) -> str:
    """Return a slug in any script as a name of a file: letters, digits and marks with hyphens between them."""
    letters = (
        letter if unicodedata.category(letter)[0] in "LNM" else "-"
        for letter in unicodedata.normalize("NFC", name).lower().replace("'", "").replace("\u2019", "")
    )
    joined = re.sub(r"-+", "-", "".join(letters)).strip("-")
    cut = joined.encode("utf-8", "replace")[:_MAX_SLUG_BYTES].decode("utf-8", "ignore").strip("-")
    return cut or otherwise
