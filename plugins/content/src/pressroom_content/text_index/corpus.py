"""What is remembered of the words of each document: an article, or a page of a connected site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.tables import ShingleRow, WordRow
from pressroom_content.text_index.shingles import bands_of, shingles_of
from pressroom_content.text_index.stems import counted_stems, language_of, stems_of


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What makes a document findable. `length` is the number of words that count in a search."""

    stems: Mapping[str, int]
    title_stems: frozenset[str]
    bands: Sequence[bytes]

    @property
    def length(self) -> int:
        """How many words were counted."""
        return sum(self.stems.values())


def fingerprint_of(title: str, text: str, language: str) -> Fingerprint:
    """Return what is remembered of a document. It may take a second for a long one: call it in a thread."""
    spoken = language_of(language)
    stems = counted_stems(f"{title}\n\n{text}", spoken)
    in_title = frozenset(stems_of(title, spoken))
    return Fingerprint(stems, in_title, bands_of(shingles_of(text)))


async def remember(session: AsyncSession, user_id: str, document_id: str, fingerprint: Fingerprint) -> None:
    """Put a document in place of what was remembered of it before."""
    await forget(session, document_id)
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
        await session.execute(insert(WordRow), words)
    bands = [{"user_id": user_id, "band": band, "document_id": document_id} for band in fingerprint.bands]
    if bands:
        await session.execute(insert(ShingleRow), bands)


async def forget(session: AsyncSession, *document_ids: str) -> None:
    """Remember nothing of these documents any more."""
    await session.execute(delete(WordRow).where(WordRow.document_id.in_(document_ids)))
    await session.execute(delete(ShingleRow).where(ShingleRow.document_id.in_(document_ids)))
