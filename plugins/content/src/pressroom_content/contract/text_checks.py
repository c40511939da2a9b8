"""Checks of texts: against a website's brand voice, and against the account's other texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pressroom_content.contract.articles import BodyFormat

VoiceRule = Literal["banned_term", "glossary", "spelling", "sentence_length", "reading_ease"]
"""A rule of a brand voice that a text can break."""


@dataclass(frozen=True, slots=True)
class VoiceFinding:
    """Something in a text that breaks a brand voice (`error`) or misses a target (`warning`).

    `position` counts characters of the plain text from 0, `line` its lines from 1; both are `None` where the whole text
    is meant. `found` is the text in question, `context` the same with some words around it.
    """

    rule: VoiceRule
    severity: Literal["error", "warning"]
    message: str
    fix: str
    found: str = ""
    context: str = ""
    position: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class VoiceReview:
    """What a check against a brand voice found, at most 50 findings for each rule.

    `version` is the version of the voice; 0 where nobody has written one, so that only the targets for sentences and
    reading ease were checked.
    """

    findings: tuple[VoiceFinding, ...]
    version: int

    @property
    def passed(self) -> bool:
        """Whether nothing breaks the voice; warnings do not count."""
        return all(one.severity != "error" for one in self.findings)


@dataclass(frozen=True, slots=True)
class DuplicateText:
    """A text of the account that is much like an article, or has its keyphrase.

    `content_id` is empty for a page that was not written here. `similarity` is the part of both texts that is the same,
    from 0 to 1; `exact` tells whether the texts themselves were compared. `shared` are passages that both have, and
    `keyphrase: …` where both have the same.
    """

    content_id: str
    url: str
    title: str
    similarity: float
    shared: tuple[str, ...]
    exact: bool


class TextChecker(Protocol):
    """Checks texts by rules, without judgement. What belongs to another account is not found."""

    async def voice_findings(
        self,
        user_id: str,
        website_id: str | None,
        *,
        content_id: str = "",
        title: str = "",
        body: str = "",
        body_format: BodyFormat = "markdown",
        language: str = "",
    ) -> VoiceReview:
        """Check an article against the brand voice of a website.

        Args:
            user_id: the account.
            website_id: whose voice; `None` for the website that the stored article is meant for, if any.
            content_id: a stored article. The other arguments are those of one that is not stored.
            title: its headline.
            body: its text.
            body_format: the format of `body`.
            language: its language tag; empty for the website's.

        Raises:
            NotFound: the account has no such website or article.
            InvalidInput: the body cannot be rendered.
        """

    async def duplicates(self, user_id: str, content_id: str, threshold: float = 0.8) -> Sequence[DuplicateText]:
        """Return texts that share at least that part with a stored article, from 0 to 1, or have its keyphrase.

        The most alike come first. Articles in the trash do not count. Raises `NotFound`.
        """
