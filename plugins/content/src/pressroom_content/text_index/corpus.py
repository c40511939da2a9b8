"""The index data of texts: stems, shingles and fingerprints.

Broder, "On the resemblance and containment of documents" (1997), with one permutation and densification after
Shrivastava and Li, "Densifying One Permutation Hashing" (2014): one hash per shingle is enough.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Any, Final

from sqlalchemy import delete, insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.language import common_words, primary_subtag, searchable, snowball, words_of
from pressroom_content.tables import ShingleRow, WordRow

MAX_STEM_LENGTH: Final = 64
MAX_STEMS: Final = 5_000
MAX_WORDS: Final = 200_000
"""Limits for the index data of a text: its first `MAX_WORDS` words, and their `MAX_STEMS` most frequent stems."""

DEFAULT_LANGUAGE: Final = "en"

_AS_WRITTEN: Final = frozenset({"eo", "fa"})
"""Languages whose words are indexed unstemmed, although they have a stemmer."""

_WITHOUT_ACCENTS: Final = frozenset({"en"})
"""Languages whose stemmer knows no accents: it has to find the endings of `résumés` as it does those of `resumes`."""


def language_of(tag: str) -> str:
    """Return the primary subtag of a tag such as `de-CH` (BCP 47); English if the tag is empty."""
    return primary_subtag(tag) or DEFAULT_LANGUAGE


def normalised(word: str) -> str:
    """Return a word in the form for comparisons: NFKC, case-folded, straight apostrophes, without a final 's.

    The Turkish `İ` becomes a plain `i`; case folding alone would keep its dot as a separate character.
    """
    plain = unicodedata.normalize("NFKC", word).replace("İ", "i").casefold()
    return plain.replace("\u2019", "'").removesuffix("'s")


@lru_cache(maxsize=200_000)
def stem_of(word: str, language: str) -> str:
    """Return the stem of a word, or the normalised word if the language has no stemmer.

    It has no accents, since people often search without them, and `i` for the Turkish dotless i, since the case of a
    Turkish `I` can only be guessed.
    """
    plain = normalised(word)
    if language in _WITHOUT_ACCENTS:
        plain = searchable(plain)
    as_written = language in _AS_WRITTEN or len(plain) > MAX_STEM_LENGTH
    stem = plain if as_written else snowball(plain, language) or plain
    return searchable(stem)[:MAX_STEM_LENGTH]


def stems_of(text: str, language: str) -> Iterator[str]:
    """Yield the stems of a text in order, without words that are common in the language."""
    common = common_words(language)
    return (stem_of(word, language) for word in words_of(text) if normalised(word) not in common)


def counted_stems(text: str, language: str) -> Counter[str]:
    """Return the number of occurrences of each stem in a text, within the limits."""
    counts: Counter[str] = Counter()
    for number, stem in enumerate(stems_of(text, language)):
        if number == MAX_WORDS:
            break
        counts[stem] += 1
    return counts if len(counts) <= MAX_STEMS else Counter(dict(counts.most_common(MAX_STEMS)))


def variants_of(query: str, languages: Iterable[str]) -> list[frozenset[str]]:
    """Return the stems in all given languages for each word of a query, except words that are common in any of them.

    The word itself is among them: an accent may have kept a stemmer from an ending that it removes from a plain letter.
    """
    codes = {language_of(tag) for tag in languages} or {DEFAULT_LANGUAGE}
    variants: list[frozenset[str]] = []
    for word in words_of(query):
        plain = normalised(word)
        if any(plain in common_words(language) for language in codes):
            continue
        stems = frozenset(stem_of(word, language) for language in codes) | {searchable(plain)[:MAX_STEM_LENGTH]}
        if stems not in variants:
            variants.append(stems)
    return variants


WORDS: Final = 5
"""Number of successive words in a shingle."""

BANDS: Final = 16
ROWS: Final = 4
"""A signature has `BANDS` bands of this many rows: texts that share half of their shingles most likely share a band."""

_BINS: Final = BANDS * ROWS
_MAX_WORDS: Final = 100_000


def shingles_of(text: str) -> frozenset[tuple[str, ...]]:
    """Return the shingles of a text. A text of fewer words is a single shingle; one without words has none."""
    words = [normalised(word) for word in islice(words_of(text), _MAX_WORDS)]
    if len(words) <= WORDS:
        return frozenset({tuple(words)}) if words else frozenset()
    return frozenset(zip(*(words[start:] for start in range(WORDS)), strict=False))


def bands_of(shingles: frozenset[tuple[str, ...]]) -> Sequence[bytes]:
    """Return the bands of the signature, 9 bytes each: the band's number and its hash. No shingles, no bands."""
    if not shingles:
        return []
    bins: list[int | None] = [None] * _BINS
    for shingle in shingles:
        number = int.from_bytes(blake2b("\0".join(shingle).encode("utf-8", "replace"), digest_size=8).digest())
        index, value = number % _BINS, number // _BINS
        lowest = bins[index]
        if lowest is None or value < lowest:
            bins[index] = value
    filled = _densified(bins)
    return [bytes([band]) + _hash(filled[band * ROWS : (band + 1) * ROWS]) for band in range(BANDS)]


def similarity(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """Return the share of all shingles that both texts have (the Jaccard index), from 0 to 1."""
    return len(one & other) / len(one | other) if one or other else 0.0


def estimate(shared_bands: int) -> float:
    """Return a rough estimate of the similarity of two texts that share this many bands, from 0 to 1."""
    return float((shared_bands / BANDS) ** (1 / ROWS))


def _densified(bins: list[int | None]) -> list[int]:
    """Fill each empty bin from the next filled one, combined with its distance, so that equal texts stay equal."""
    filled: list[int] = []
    for index, bin_value in enumerate(bins):
        distance, value = 0, bin_value
        while value is None:
            distance += 1
            value = bins[(index + distance) % _BINS]
        filled.append(value + (distance << 60))
    return filled


def _hash(rows: Sequence[int]) -> bytes:
    return blake2b(b"".join(row.to_bytes(16) for row in rows), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The index data of a document. `length` is the number of words that are indexed."""

    stems: Mapping[str, int]
    title_stems: frozenset[str]
    bands: Sequence[bytes]
    length: int


def fingerprint_of(title: str, text: str, language: str) -> Fingerprint:
    """Return the index data of a document. It can take a second for a long text: call it in a thread."""
    code = language_of(language)
    stems = counted_stems(f"{title}\n\n{text}", code)
    in_title = frozenset(stems_of(title, code))
    return Fingerprint(stems, in_title, bands_of(shingles_of(text)), sum(stems.values()))


async def remember(session: AsyncSession, user_id: str, document_id: str, fingerprint: Fingerprint) -> None:
    """Replace the index data of a document."""
    await forget(session, document_id)
    await add(session, user_id, document_id, fingerprint)


# Tables instead of classes, for which SQLAlchemy would process each row once more.
_WORDS: Final[Any] = WordRow.__table__
_SHINGLES: Final[Any] = ShingleRow.__table__


async def add(session: AsyncSession, user_id: str, document_id: str, fingerprint: Fingerprint) -> None:
    """Add the index data of a document that has none yet."""
    words = [
        {
            "user_id": user_id,
            "stem": stem,
            "document_id": document_id,
            "count": count,
            "in_title": stem in fingerprint.title_stems,
        }
        for stem, count in fingerprint.stems.items()
    ]
    if words:
        await session.execute(insert(_WORDS), words)
    bands = [{"user_id": user_id, "band": band, "document_id": document_id} for band in fingerprint.bands]
    if bands:
        await session.execute(insert(_SHINGLES), bands)


async def forget(session: AsyncSession, *document_ids: str) -> None:
    """Delete the index data of documents."""
    await session.execute(delete(WordRow).where(WordRow.document_id.in_(document_ids)))
    await session.execute(delete(ShingleRow).where(ShingleRow.document_id.in_(document_ids)))
