"""Articles for other plugins: reading and changing them, and creating slugs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, Protocol

ArticleStatus = Literal["draft", "scheduled", "published", "trashed"]
"""The status of an article."""

BodyFormat = Literal["markdown", "html"]
"""The format of an article's body."""


@dataclass(frozen=True, slots=True)
class Article:
    """One version of an article: the newest, unless an older one was requested.

    `website_id` is the website that the article is meant for. `featured_media_id` identifies an image in a media
    library. `score` is `None` while there is no scorer. `word_count` is the number of words that tools and pages show;
    if there is a scorer, it is the scorer's count. `trashed_at` is set while the article is in the trash. All times are
    in UTC.
    """

    id: str
    user_id: str
    website_id: str | None
    status: ArticleStatus
    version: int
    title: str
    slug: str
    body: str
    body_format: BodyFormat
    excerpt: str
    keyphrase: str
    synonyms: tuple[str, ...]
    meta_title: str
    meta_description: str
    tags: tuple[str, ...]
    categories: tuple[str, ...]
    language: str
    canonical_url: str
    author: str
    featured_media_id: str
    featured_alt: str
    word_count: int
    score: int | None
    created_at: datetime
    updated_at: datetime
    published_at: datetime | None
    trashed_at: datetime | None


@dataclass(frozen=True, slots=True)
class ArticleSummary:
    """The title, metadata and keyphrase of an article, without its body."""

    id: str
    title: str
    meta_title: str
    meta_description: str
    keyphrase: str
    canonical_url: str


@dataclass(frozen=True, slots=True)
class ArticleChange:
    """A version of an article as a change: when it was written, and which fields it changed (empty for the first)."""

    version: int
    created_at: datetime
    changed: tuple[str, ...]


class ArticleRepository(Protocol):
    """The articles of all accounts. Articles of other accounts are not found."""

    async def get(self, user_id: str, content_id: str, version: int | None = None) -> Article:
        """Return an article, or an older version of it.

        Raises:
            NotFound: the account has no such article, or the version is not stored.
        """

    async def titles(self, user_id: str, content_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the titles of articles by id. Articles that the account does not have are left out."""

    async def summaries(
        self,
        user_id: str,
        website_id: str | None,
        *,
        limit: int,
        order: Literal["created", "changed"] = "changed",
        excluding: str = "",
    ) -> Sequence[ArticleSummary]:
        """Return at most `limit` articles that are meant for a website, or for no website if it is `None`.

        Articles in the trash are left out, and so is the one whose id is `excluding`. `order` is `changed`, with the
        most recently changed first, or `created`, with the oldest first.
        """

    async def changes(self, user_id: str, content_id: str) -> Sequence[ArticleChange]:
        """Return the stored versions of an article, newest first; nothing if there is no such article."""

    async def change(self, article: Article, fields: Mapping[str, Any], *, origin: str = "") -> Article:
        """Write a new version of an article with some fields changed, and return it.

        Args:
            article: the version to change, as it was read.
            fields: new values by name, such as `{"featured_alt": "A harbour"}`; only fields that users write.
            origin: the client that requested the change, for the list of versions.

        Raises:
            InvalidInput: a value is not allowed, or the article was changed or moved to the trash after it was read.
            NotFound: the article, or the website in `fields`, does not exist any longer.
            QuotaExceeded: the account's storage is full.
        """

    async def note_score(self, article: Article, score: int, words: int | None) -> Article:
        """Store a newer score of an article for lists, and return the article with it.

        `words` is the scorer's number of words; `None` keeps the stored number. A score of any version but the newest
        is not stored.
        """


MAX_SLUG_LENGTH: Final = 200
MAX_GENERATED_LENGTH: Final = 80
"""The maximum length of a slug that is generated from a title."""

_LATIN: Final = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "\u0131": "i",
    "ĳ": "ij", "ŋ": "n",
}  # fmt: skip
_GERMAN: Final = {"ä": "ae", "ö": "oe", "ü": "ue"}
_DANISH: Final = {"å": "aa", "ø": "oe"}
_OF_LANGUAGE: Final = {
    "de": _GERMAN, "gsw": _GERMAN, "lb": _GERMAN, "da": _DANISH, "nb": _DANISH, "nn": _DANISH, "no": _DANISH,
}  # fmt: skip
"""Transliterations to the letters a to z that are specific to a language."""

_QUOTES: Final = frozenset("'\u2019\u02bc")


def slug_of(title: str, longest: int = MAX_GENERATED_LENGTH, language: str = "") -> str:
    """Return a slug for a title: lower case, hyphens between the words, Latin letters without accents.

    `language` is the tag of the title's language (BCP 47): in German, ü becomes ue. Letters of other scripts stay
    unchanged. The slug is empty if the title has neither letters nor digits.
    """
    transliterations = _OF_LANGUAGE.get(language.partition("-")[0].lower(), {})
    letters = unicodedata.normalize("NFC", title)
    return cut(as_slug("".join(transliterations.get(letter.lower()) or _plain(letter) for letter in letters)), longest)


_PLUS_PLUS = re.compile(r"(?<=\w)\+\+(?!\w)")
_SHARP = re.compile(r"(?<=\w)#(?!\w)")


def spelled_out(name: str) -> str:
    """Return the name of a term with `C++` as `Cpp` and `C#` as `Csharp`: by their letters alone, both would be `C`."""
    return _PLUS_PLUS.sub("pp", _SHARP.sub("sharp", name))


def as_slug(text: str) -> str:
    """Return a text in lower case, with everything but letters, their marks and digits replaced by single hyphens."""
    parts: list[str] = []
    for character in unicodedata.normalize("NFC", text.lower()):
        if character in _QUOTES:
            continue
        kind = unicodedata.category(character)[0]
        if kind in "LN" or (kind == "M" and parts and parts[-1] != "-"):
            parts.append(character)
        elif parts and parts[-1] != "-":
            parts.append("-")
    return "".join(parts).strip("-")


def cut(slug: str, max_length: int) -> str:
    """Return a slug of at most `max_length` characters, cut between words if possible."""
    if len(slug) <= max_length:
        return slug
    head, hyphen, _ = slug[: max_length + 1].rpartition("-")
    return (head if hyphen and len(head) > max_length // 2 else slug[:max_length]).rstrip("-")


def free_slugs(slug: str) -> Iterator[str]:
    """Yield a slug, then the same slug with the suffixes `-2`, `-3` and so on, without end."""
    slug = slug or "article"
    yield slug
    number = 2
    while True:
        ending = f"-{number}"
        yield cut(slug, MAX_SLUG_LENGTH - len(ending)) + ending
        number += 1


def _plain(character: str) -> str:
    """Return a Latin letter without its accents, or any other character in lower case."""
    lower = character.lower()
    if lower in _LATIN:
        return _LATIN[lower]
    base = unicodedata.normalize("NFD", lower)[:1]
    return base if base.isascii() else lower
