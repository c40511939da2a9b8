"""How alike two texts are.

Shingles are runs of words (Broder 1997); the share that two texts have in common is their Jaccard index. A simhash
(Charikar 2002; Manku, Jain and Das Sarma 2007) is a fingerprint of 64 bits that differs in few of them where the
texts differ in little, so that a whole site can be compared without keeping its texts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

BITS: Final = 64
NEAR: Final = 6
"""In how many bits the fingerprints of near-duplicates differ at most; they share about nine shingles of ten."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\W_]+")
_MIN_WORDS = 40
_MAX_WORDS = 5000
_LANE = 32
_SPREAD: Final = tuple(sum(1 << (bit * _LANE) for bit in range(8) if byte >> bit & 1) for byte in range(256))


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; every character of Chinese, Japanese and Korean counts as one."""
    return _WORD.findall(text.casefold())


def shingles(words: Sequence[str], length: int = 5) -> set[tuple[str, ...]]:
    """Return the runs of so many words; a shorter text is one run."""
    if not words:
        return set()
    return {tuple(words[at : at + length]) for at in range(max(1, len(words) - length + 1))}


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
    """Yield the pairs of names whose fingerprints differ in at most `most` bits (0 to 7); a fingerprint of 0 is none.

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


_MAX_COMPARED = 200


@dataclass(frozen=True, slots=True)
class Match:
    """A text of the corpus that is like the one asked about."""

    name: str
    similarity: float
    """The Jaccard index of their shingles, 0 to 1."""

    shared: tuple[str, ...]
    """The longest passages that both have, in words."""


def similar_texts(
    text: str, corpus: Iterable[tuple[str, str]], *, threshold: float = 0.8, passages: int = 3
) -> list[Match]:
    """Return the texts of a corpus that are like a text, the most alike first.

    Args:
        text: what is compared.
        corpus: names and texts; one at a time is held.
        threshold: the least Jaccard index, 0 to 1.
        passages: how many shared passages are shown of each.
    """
    words = words_of(text)
    own = shingles(words)
    found = []
    for name, other in corpus:
        theirs = shingles(words_of(other))
        common = own & theirs
        together = len(own) + len(theirs) - len(common)
        similarity = len(common) / together if together else 0.0
        if similarity >= threshold and common:
            found.append(Match(name, round(similarity, 3), _shared(words, common, passages)))
    return sorted(found, key=lambda match: (-match.similarity, match.name))


def _shared(words: Sequence[str], common: set[tuple[str, ...]], most: int) -> tuple[str, ...]:
    """Return the longest runs of words all of whose shingles are common."""
    length = len(next(iter(common)))
    runs: list[tuple[int, int]] = []
    for at in range(max(1, len(words) - length + 1)):
        if tuple(words[at : at + length]) not in common:
            continue
        if runs and at <= runs[-1][1]:
            runs[-1] = (runs[-1][0], at + length)
        else:
            runs.append((at, at + length))
    runs.sort(key=lambda run: run[0] - run[1])
    return tuple(" ".join(words[begin : min(end, begin + 40)]) for begin, end in runs[:most])
