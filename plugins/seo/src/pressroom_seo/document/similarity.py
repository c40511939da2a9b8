"""How alike the texts of a site are.

A simhash (Charikar 2002; Manku, Jain and Das Sarma 2007) is a fingerprint of 64 bits that differs in few of them
where the texts differ in little, so that a whole site can be compared without keeping its texts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Final

NEAR: Final = 6
"""In how many bits the fingerprints of near-duplicates differ at most; they share about nine shingles of ten."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\W_]+")
_MIN_WORDS = 40
_MAX_WORDS = 5000
_MAX_COMPARED = 200
_LANE = 32
_SPREAD: Final = tuple(sum(1 << (bit * _LANE) for bit in range(8) if byte >> bit & 1) for byte in range(256))


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; every character of Chinese, Japanese and Korean counts as one."""
    return _WORD.findall(text.casefold())


def simhash(words: Sequence[str]) -> int:
    """Return a fingerprint of 64 bits of the first 5000 words; 0 where there are fewer than 40."""
    if len(words) < _MIN_WORDS:
        return 0
    words = words[:_MAX_WORDS]
    # Eight counters lie side by side in each of these numbers, so that one addition counts eight bits.
    counters = [0] * 8
    total = len(words) - 2
    for at in range(total):
        digest = blake2b("\0".join(words[at : at + 3]).encode(), digest_size=8).digest()
        for place, byte in enumerate(digest):
            counters[place] += _SPREAD[byte]
    found = 0
    for place, counter in enumerate(counters):
        for bit in range(8):
            if (counter >> (bit * _LANE) & 0xFFFF_FFFF) * 2 > total:
                found |= 1 << (place * 8 + bit)
    return found or 1


def distance(one: int, other: int) -> int:
    """Return in how many bits two fingerprints differ."""
    return (one ^ other).bit_count()


def near_pairs(fingerprints: Mapping[str, int], most: int = NEAR) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names whose fingerprints differ in at most `most` bits (0 to 7), except fingerprints of 0.

    Of the eight bytes one must be equal in such a pair, so that only names with an equal byte are compared, and of
    these the last 200.
    """
    alike: dict[tuple[int, int], list[str]] = defaultdict(list)
    for name, fingerprint in fingerprints.items():
        if not fingerprint:
            continue
        met: set[str] = set()
        for key in enumerate(fingerprint.to_bytes(8, "little")):
            for other in alike[key][-_MAX_COMPARED:]:
                if other not in met and distance(fingerprint, fingerprints[other]) <= most:
                    yield other, name
                met.add(other)
            alike[key].append(name)
