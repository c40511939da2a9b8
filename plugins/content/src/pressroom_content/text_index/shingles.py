"""Near-duplicates: MinHash signatures of a text's shingles, in bands.

Broder, "On the resemblance and containment of documents" (1997), with one permutation and densification after
Shrivastava and Li, "Densifying One Permutation Hashing" (2014): a hash for each shingle is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import islice
from typing import Final

from pressroom_content.language import words_of
from pressroom_content.text_index.stems import normalised

WORDS: Final = 5
"""How many words that follow each other make a shingle."""

BANDS: Final = 16
ROWS: Final = 4
"""A signature has bands of this many rows: texts with half of their shingles in common most likely share a band."""

_BINS: Final = BANDS * ROWS
_MAX_WORDS: Final = 100_000


def shingles_of(text: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of words that a text holds. A text of fewer words is one shingle; one without words has none."""
    words = [normalised(word) for word in islice(words_of(text), _MAX_WORDS)]
    if len(words) <= WORDS:
        return frozenset({tuple(words)}) if words else frozenset()
    return frozenset(zip(*(words[start:] for start in range(WORDS)), strict=False))


def bands_of(shingles: frozenset[tuple[str, ...]]) -> Sequence[bytes]:
    """Return the bands of the signature, 9 bytes each: its number and its hash. No shingles have no bands."""
    if not shingles:
        return []
    bins: list[int | None] = [None] * _BINS
    for shingle in shingles:
        number = int.from_bytes(blake2b("\0".join(shingle).encode("utf-8", "replace"), digest_size=8).digest())
        place, value = number % _BINS, number // _BINS
        lowest = bins[place]
        if lowest is None or value < lowest:
            bins[place] = value
    filled = _densified(bins)
    return [bytes([band]) + _hash(filled[band * ROWS : (band + 1) * ROWS]) for band in range(BANDS)]


def similarity(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """Return which part of all shingles both have (the Jaccard index), from 0 to 1."""
    return len(one & other) / len(one | other) if one or other else 0.0


def estimate(shared_bands: int) -> float:
    """Return the similarity of two texts that share this many bands, from 0 to 1, roughly."""
    return float((shared_bands / BANDS) ** (1 / ROWS))


def _densified(bins: list[int | None]) -> list[int]:
    """Fill each empty bin from the next one that is not, with the distance in it, so that equal texts stay equal."""
    found: list[int] = []
    for place, own in enumerate(bins):
        distance, value = 0, own
        while value is None:
            distance += 1
            value = bins[(place + distance) % _BINS]
        found.append(value + (distance << 60))
    return found


def _hash(rows: Sequence[int]) -> bytes:
    return blake2b(b"".join(row.to_bytes(16) for row in rows), digest_size=8).digest()
