"""What plugins can add to the check of an article beside its score, and the checks of texts that they can ask for.

Texts are checked against a website's brand voice, and against the account's other texts.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from pressroom_content.contract.articles import Article, BodyFormat

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)


_RESERVED: Final = frozenset(
    {
        "score", "rating", "gates", "groups", "checks", "next_actions", "notes", "ruleset", "language", "words",
        "links", "voice", "snippet", "duplicates",
    }
)  # fmt: skip
"""Members of the answer of `check_blog_seo`, which no review may replace."""

VoiceRule = Literal["banned_term", "glossary", "spelling", "sentence_length", "reading_ease"]
"""A rule of a brand voice that a text can break."""


@dataclass(frozen=True, slots=True)
class ArticleReview:
    """What a review found: `data` as JSON values for `structuredContent`, `lines` the same in words.

    `lines` hold what a model needs to act: what is wrong, where, and what to do. They are empty where all is well.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArticleReviewer:
    """Reviews stored articles. Offer it through the hook `pressroom_article_reviewers`.

    `check_blog_seo` lists `name` among the values of `include` and calls `review` where a client asks for it; the
    answer has `data` under that name. A review never changes the article's score, and has 60 seconds. It may raise
    `InvalidInput` and `BackendError`.
    """

    name: str
    review: Callable[[Article], Awaitable[ArticleReview]]

    def __post_init__(self) -> None:
        """Refuse a name that cannot be a value of `include`."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"the name of a reviewer must be lower-case letters, digits and _ (got {self.name!r})")
        if self.name in _RESERVED:
            taken = ", ".join(sorted(_RESERVED))
            raise ValueError(f"the name of a reviewer must be none of {taken} (got {self.name!r})")


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
