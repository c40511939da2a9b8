"""Encodes text as the modules of a symbol, with the best data mask (ISO/IEC 18004:2015).

A symbol is one integer with one bit per module, so that a few shifts apply a rule to all modules. A module is bit
`row * stride + column`, where `stride` exceeds the number of modules in a row by `GAP`: the bits between two rows are
light, so that no pattern continues from one row to the next, and the outside of the symbol counts as light, as the
third rule requires. Shifting by 1 moves along the rows, shifting by `stride` down the columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import segno
from pressroom.sdk import InvalidInput

from pressroom_qr_code_generator.params import ErrorCorrection

GAP: Final = 4
_MODULES_OF_VERSION_1: Final = 21
_MASK_PERIOD: Final = 12
_FUNCTION_MODULE, _DATA_MODULE = 1, 2
_TO_DIGITS: Final = bytes.maketrans(b"\x00\x01", b"01")
_FROM_DIGITS: Final = bytes.maketrans(b"01", b"\x00\x01")

_encoder: Any = segno.encoder  # untyped functions

Rows = Sequence[bytes | bytearray]
"""The modules of a symbol, one byte each: 1 for dark and 0 for light."""


@dataclass(frozen=True, slots=True)
class Template:
    """The parts that all symbols of one size share.

    `data` marks the modules that masks apply to, `dark` the dark modules of the function patterns. Format and version
    information is in neither: it is light while masks are compared. `masks` are the eight masks. `has_right` and
    `has_below` mark the modules that have a neighbour on that side.
    """

    modules: int
    stride: int
    data: int
    dark: int
    masks: tuple[int, ...]
    has_right: int
    has_below: int


@lru_cache(maxsize=40)
def template(modules: int) -> Template:
    """Return the template of symbols with this many modules per side (21 to 177)."""
    matrix = _encoder.make_matrix(modules, modules)
    _encoder.add_finder_patterns(matrix, modules, modules)
    _encoder.add_alignment_patterns(matrix, modules, modules)
    data = _bits_where(matrix, _DATA_MODULE)
    row = b"\x01" * modules
    return Template(
        modules=modules,
        stride=modules + GAP,
        data=data,
        dark=_bits_where(matrix, _FUNCTION_MODULE),
        masks=tuple(data & to_bits(_mask(mask, modules)) for mask in _encoder.get_data_mask_functions(is_micro=False)),
        has_right=to_bits([row[:-1] + b"\x00"] * modules),
        has_below=to_bits([row] * (modules - 1)),
    )


def with_best_mask(rows: Rows, mask: int) -> tuple[list[bytearray], int]:
    """Replace the mask of a symbol with the best one, and return the symbol and the number of the mask (0 to 7).

    Format and version information of the returned symbol is blank. Among masks with equal scores, the first wins.
    """
    form = template(len(rows))
    unmasked = (to_bits(rows) ^ form.masks[mask]) & form.data
    candidates = [unmasked ^ candidate | form.dark for candidate in form.masks]
    scores = [sum(penalties(candidate, form)) for candidate in candidates]
    best = scores.index(min(scores))
    return to_rows(candidates[best], form.modules), best


def penalties(symbol: int, form: Template) -> tuple[int, int, int, int]:
    """Return a masked symbol's scores for runs, blocks, finder-like patterns and its share of dark modules.

    Lower is better (ISO/IEC 18004:2015, 7.8.3.1).
    """
    stride = form.stride
    like_right = form.has_right & ~(symbol ^ symbol >> 1)
    like_below = form.has_below & ~(symbol ^ symbol >> stride)
    runs = _runs(like_right, 1) + _runs(like_below, stride)
    blocks = 3 * (like_right & like_right >> stride & like_below).bit_count()
    finders = 40 * (_finder_like(symbol, 1) + _finder_like(symbol, stride))
    dark_percent = symbol.bit_count() / form.modules**2 * 100
    return runs, blocks, finders, 10 * int(abs(dark_percent - 50) / 5)


def to_bits(rows: Rows) -> int:
    """Convert rows to the integer of a symbol."""
    gap = bytes(GAP)
    return int(b"".join([row + gap for row in rows]).translate(_TO_DIGITS)[::-1], 2)


def to_rows(symbol: int, modules: int) -> list[bytearray]:
    """Convert the integer of a symbol to rows."""
    stride = modules + GAP
    flat = format(symbol, f"0{modules * stride}b").encode().translate(_FROM_DIGITS)[::-1]
    return [bytearray(flat[start : start + modules]) for start in range(0, len(flat), stride)]


def _runs(like_next: int, step: int) -> int:
    # A run of n >= 5 equal modules scores n - 2: one for each window of five, and two for the run itself.
    threes = like_next & like_next >> step
    fives = threes & threes >> 2 * step
    return fives.bit_count() + 2 * (fives & ~(fives << step)).bit_count()


def _finder_like(symbol: int, step: int) -> int:
    """Count occurrences of dark-light-dark-dark-dark-light-dark with four light modules before or after."""
    light = ~symbol
    pattern = symbol & light >> step & symbol >> 2 * step & symbol >> 3 * step
    pattern &= symbol >> 4 * step & light >> 5 * step & symbol >> 6 * step
    dark_before = symbol << step | symbol << 2 * step | symbol << 3 * step | symbol << 4 * step
    dark_after = symbol >> 7 * step | symbol >> 8 * step | symbol >> 9 * step | symbol >> 10 * step
    matches = pattern & ~(dark_before & dark_after)
    # Two that overlap by three modules or by one count once. A third cannot overlap the second of such a pair.
    overlapping = matches & (matches << 4 * step | matches << 6 * step)
    return matches.bit_count() - overlapping.bit_count()


def _mask(condition: Callable[[int, int], bool], modules: int) -> list[bytes]:
    """Return a full mask; all eight repeat after twelve rows and twelve columns."""
    period = range(_MASK_PERIOD)
    tile = [bytes(condition(row, column) for column in period) * (modules // _MASK_PERIOD + 1) for row in period]
    return [tile[row % _MASK_PERIOD][:modules] for row in range(modules)]


def _bits_where(matrix: Iterable[bytearray], value: int) -> int:
    is_value = bytes(byte == value for byte in range(256))
    return to_bits([row.translate(is_value) for row in matrix])


SUPPORTED_SEGNO_VERSIONS: Final = frozenset({"1.6.6"})
"""Releases of segno whose internal functions are compatible with `with_best_mask`."""

_BYTES_THAT_FIT: Final = {"L": 2953, "M": 2331, "Q": 1663, "H": 1273}
_ALPHANUMERICS_THAT_FIT: Final = {"L": 4296, "M": 3391, "Q": 2420, "H": 1852}
_ALPHANUMERIC: Final = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")


def encode(text: str, level: ErrorCorrection, *, aligned: bool = False) -> Rows:
    """Return the modules of the smallest symbol that fits the text at this error correction level.

    Micro QR codes are never used. The level is raised if that costs no extra space. Non-ASCII text is UTF-8 and
    declared by an ECI, because readers guess differently without one. With `aligned`, the symbol has an alignment
    pattern, which symbols of version 1 lack.

    Raises:
        InvalidInput: no symbol can hold the text at that level.
    """
    options: dict[str, Any] = {"error": level}
    if not text.isascii():
        options |= {"encoding": "utf-8", "mode": "byte", "eci": True}
    try:
        rows = _symbol(text, options)
        return _symbol(text, options | {"version": 2}) if aligned and len(rows) == _MODULES_OF_VERSION_1 else rows
    except segno.DataOverflowError as error:
        raise InvalidInput("text", _does_not_fit(text, level)) from error


def _symbol(text: str, options: dict[str, Any]) -> Rows:
    """Return the result of `segno.make_qr`, but faster: it spends most of its time comparing masks."""
    if segno.__version__ not in SUPPORTED_SEGNO_VERSIONS:
        return tuple(segno.make_qr(text, **options).matrix)
    code = segno.make_qr(text, **options, mask=0)
    rows, mask = with_best_mask(code.matrix, 0)
    encoder: Any = segno.encoder  # untyped functions
    encoder.add_format_info(rows, code.version, encoder.normalize_errorlevel(code.error), mask)
    encoder.add_version_info(rows, code.version)
    return rows


def _does_not_fit(text: str, level: ErrorCorrection) -> str:
    length = len(text.encode())
    fits = {candidate: _bytes_that_fit(text, candidate) for candidate in _BYTES_THAT_FIT}
    lower = [candidate for candidate in fits if fits[level] < length <= fits[candidate]]
    choice = re.sub(", (?=.$)", " or ", ", ".join(lower))
    remedy = f"shorten it or set errorCorrection to {choice}" if lower else "shorten it"
    unit = "bytes" if text.isascii() else "bytes in UTF-8"
    return f"must be at most {fits[level]} bytes at errorCorrection {level} (got {length} {unit}); {remedy}"


def _bytes_that_fit(text: str, level: str) -> int:
    if not text.isascii():
        return _BYTES_THAT_FIT[level] - 1  # the ECI takes up one byte
    return (_ALPHANUMERICS_THAT_FIT if _ALPHANUMERIC.issuperset(text) else _BYTES_THAT_FIT)[level]
