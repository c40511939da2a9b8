"""From a text to the modules of its symbol (ISO/IEC 18004:2015)."""

from __future__ import annotations

import re
from typing import Any, Final

import segno
from pressroom.sdk import InvalidInput

from pressroom_qr_code_generator.masks import Rows, with_best_mask
from pressroom_qr_code_generator.params import ErrorCorrection

SEGNO_KNOWN: Final = frozenset({"1.6.6"})
"""The releases of segno whose inner functions are known to be what `masks` takes them for."""

_BYTES_THAT_FIT: Final = {"L": 2953, "M": 2331, "Q": 1663, "H": 1273}
_ALPHANUMERICS_THAT_FIT: Final = {"L": 4296, "M": 3391, "Q": 2420, "H": 1852}
_ALPHANUMERIC: Final = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")


def encode(text: str, level: ErrorCorrection) -> Rows:
    """Return the modules of the smallest symbol that holds the text at that error correction level.

    It is never a Micro QR code. The level is raised where that costs no extra space. Text outside ASCII is
    UTF-8 and says so by an ECI, since readers guess differently where it is missing.

    Raises:
        InvalidInput: no symbol can hold the text at that level.
    """
    options: dict[str, Any] = {"error": level}
    if not text.isascii():
        options |= {"encoding": "utf-8", "mode": "byte", "eci": True}
    try:
        return _symbol(text, options)
    except segno.DataOverflowError as error:
        raise InvalidInput("text", _does_not_fit(text, level)) from error


def _symbol(text: str, options: dict[str, Any]) -> Rows:
    """Return what `segno.make_qr` returns, sooner: comparing masks is most of its work, and `masks` is quicker."""
    if segno.__version__ not in SEGNO_KNOWN:
        return tuple(segno.make_qr(text, **options).matrix)
    code = segno.make_qr(text, **options, mask=0)
    rows, mask = with_best_mask(code.matrix, 0)
    encoder: Any = segno.encoder  # its functions carry no types
    encoder.add_format_info(rows, code.version, encoder.normalize_errorlevel(code.error), mask)
    encoder.add_version_info(rows, code.version)
    return rows


def _does_not_fit(text: str, level: ErrorCorrection) -> str:
    has = len(text.encode())
    fits = {each: _bytes_that_fit(text, each) for each in _BYTES_THAT_FIT}
    lower = [each for each in fits if fits[level] < has <= fits[each]]
    choice = re.sub(", (?=.$)", " or ", ", ".join(lower))
    remedy = f"shorten it or set errorCorrection to {choice}" if lower else "shorten it"
    counted = "bytes" if text.isascii() else "bytes in UTF-8"
    return f"must be at most {fits[level]} bytes at errorCorrection {level} (got {has} {counted}); {remedy}"


def _bytes_that_fit(text: str, level: str) -> int:
    if not text.isascii():
        return _BYTES_THAT_FIT[level] - 1  # the ECI takes the place of one
    return (_ALPHANUMERICS_THAT_FIT if _ALPHANUMERIC.issuperset(text) else _BYTES_THAT_FIT)[level]
