"""The writing guides of websites, reading ease, and how tools show guides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, Literal, Self

from pressroom.sdk import InvalidInput, PluginContext
from pydantic import BaseModel, Field
from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.tables import VoiceRow
from pressroom_content.websites.store import Websites

_VOWELS = re.compile(r"[aeiouyäöüáéíóúàèìòùâêîôûœæ]+")
_SILENT_E = re.compile(r"[^aeiouyl]e$|[^aeiouy](?:es|ed)$")
_SPOKEN_ED = re.compile(r"[td]ed$|[sxz]es$|[cs]hes$")
_MAX_WORDS: Final = 100_000


def reading_ease(words: Sequence[str], sentences: int, language: str) -> float | None:
    """Return the reading ease of a text, from 0 (hard) to 100 (easy); `None` if it is empty or has no formula.

    English: Flesch, "A New Readability Yardstick" (1948). German: Amstad, "Wie verständlich sind unsere Zeitungen?"
    (1978).
    """
    if language not in ("en", "de") or not words or not sentences:
        return None
    sample = list(islice(words, _MAX_WORDS))
    length = len(words) / sentences
    syllables = sum(syllables_of(word, language) for word in sample) / len(sample)
    ease = 206.835 - 1.015 * length - 84.6 * syllables if language == "en" else 180 - length - 58.5 * syllables
    return max(0.0, min(100.0, ease))


def syllables_of(word: str, language: str) -> int:
    """Return the approximate number of syllables of a word: its groups of vowels, without a silent English `e`."""
    word = word.lower()
    count = len(_VOWELS.findall(word))
    if language == "en" and count > 1 and _SILENT_E.search(word) and not _SPOKEN_ED.search(word):
        count -= 1
    return max(1, count)


Spelling = Literal["en-GB", "en-US", "any"]


@dataclass(frozen=True, slots=True)
class Voice:
    """A writing guide. `glossary` maps each term to the spellings to avoid, separated by commas."""

    tone: str = ""
    audience: str = ""
    dos: tuple[str, ...] = ()
    donts: tuple[str, ...] = ()
    banned_terms: tuple[str, ...] = ()
    glossary: Mapping[str, str] = field(default_factory=dict)
    spelling: Spelling = "any"
    examples: tuple[str, ...] = ()


class Voices:
    """The writing guides of all accounts' websites."""

    def __init__(self, plugin: PluginContext) -> None:
        self._database = plugin.services.database
        self._websites = Websites(plugin)

    async def get(self, user_id: str, website_id: str) -> tuple[Voice, int]:
        """Return a website's guide and its version, which is 0 if it has no guide yet. Raises `NotFound`."""
        website = await self._websites.get(user_id, website_id)
        async with self._database.reading() as session:
            return await _read(session, website.id)

    async def set(
        self, user_id: str, website_id: str, changes: Mapping[str, Any], expected_version: int | None = None
    ) -> tuple[Voice, int]:
        """Change parts of a guide and return it with its version. A change without effect creates no new version.

        Raises:
            InvalidInput: the guide is not at the expected version.
            NotFound: the account has no such website.
        """
        website = await self._websites.get(user_id, website_id)
        insert = sqlite_insert if self._database.dialect == "sqlite" else postgresql_insert
        async with self._database.writing() as session:
            empty = {"website_id": website.id, "voice": {}, "version": 0, "updated_at": datetime.now(UTC)}
            await session.execute(insert(VoiceRow).values(**empty).on_conflict_do_nothing())
            await session.execute(select(VoiceRow).where(VoiceRow.website_id == website.id).with_for_update())
            voice, version = await _read(session, website.id)
            updated = replace(voice, **changes)
            if updated == voice and version:
                return voice, version
            if expected_version is not None and expected_version != version:
                raise InvalidInput(
                    "expected_version",
                    f"the brand voice is at version {version}, not {expected_version}: read it with get_website, and "
                    "repeat the change with its version",
                )
            values = {"voice": asdict(updated), "version": version + 1, "updated_at": datetime.now(UTC)}
            await session.execute(update(VoiceRow).where(VoiceRow.website_id == website.id).values(**values))
        return updated, version + 1


async def _read(session: AsyncSession, website_id: str) -> tuple[Voice, int]:
    query = select(VoiceRow.voice, VoiceRow.version).where(VoiceRow.website_id == website_id)
    row = (await session.execute(query)).one_or_none()
    if row is None:
        return Voice(), 0
    known = {field.name for field in fields(Voice)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row.voice.items() if name in known
    }
    return Voice(**values), row.version


class VoiceView(BaseModel):
    """A brand voice."""

    tone: str = Field(description="How the texts sound.")
    audience: str = Field(description="Who they are for.")
    dos: list[str] = Field(description="What to do.")
    donts: list[str] = Field(description="What to avoid.")
    banned_terms: list[str] = Field(description="Terms that never appear.")
    glossary: dict[str, str] = Field(description="Each term with the spellings to avoid, between commas.")
    spelling: str = Field(description="en-GB, en-US or any.")
    examples: list[str] = Field(description="Passages that sound right.")

    @classmethod
    def of(cls, voice: Voice) -> Self:
        """Return a brand voice as tools show it."""
        return cls(
            tone=voice.tone,
            audience=voice.audience,
            dos=list(voice.dos),
            donts=list(voice.donts),
            banned_terms=list(voice.banned_terms),
            glossary=dict(voice.glossary),
            spelling=voice.spelling,
            examples=list(voice.examples),
        )


def voice_lines(view: VoiceView, version: int) -> Iterator[str]:
    """Yield a brand voice as lines of text, with the spellings to avoid for each term of the glossary."""
    if not version:
        yield "Brand voice: not written yet; set_brand_voice saves one (expected_version 0)."
        return
    yield f"Brand voice, version {version} (expected_version of set_brand_voice):"
    for name, value in view.model_dump().items():
        label = {"dos": "Do", "donts": "Do not"}.get(name, name.replace("_", " ").capitalize())
        if value:
            yield f"{label}: {_value_text(value)}"


def _value_text(value: str | list[str] | dict[str, str]) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{term} (not: {avoided})" if avoided else term for term, avoided in value.items())
    return value if isinstance(value, str) else "; ".join(value)
