"""Scores, reviews and text checks of articles.

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
"""Keys of the result of `check_blog_seo`, which no review may replace."""

VoiceRule = Literal["banned_term", "glossary", "spelling", "sentence_length", "reading_ease"]
"""A rule of a brand voice that a text can break."""


@dataclass(frozen=True, slots=True)
class ArticleReview:
    """The result of a review: `data` has JSON values for `structuredContent`, and `lines` states the same as text.

    Each line tells a model what is wrong, where, and what to do. `lines` is empty if there is nothing to report.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArticleReviewer:
    """Reviews stored articles. Offer it through the hook `pressroom_article_reviewers`.

    `check_blog_seo` lists `name` among the values of `include`, and calls `review` if a client requests it. The result
    has `data` under that name. A review never changes the article's score, and has 60 seconds. It may raise
    `InvalidInput` and `BackendError`.
    """

    name: str
    review: Callable[[Article], Awaitable[ArticleReview]]

    def __post_init__(self) -> None:
        """Raise `ValueError` if the name cannot be a value of `include`."""
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"the name of a reviewer must be lower-case letters, digits and _ (got {self.name!r})")
        if self.name in _RESERVED:
            reserved = ", ".join(sorted(_RESERVED))
            raise ValueError(f"the name of a reviewer must be none of {reserved} (got {self.name!r})")


@dataclass(frozen=True, slots=True)
class VoiceFinding:
    """Something in a text that breaks a brand voice (`error`) or misses a target (`warning`).

    `position` is an offset in characters of the plain text, from 0, and `line` is a line number, from 1; both are
    `None` if the finding is about the whole text. `found` is the text in question, `context` is the text with some
    words around it.
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
    """The result of a check against a brand voice, with at most 50 findings for each rule.

    `version` is the version of the voice. It is 0 if nobody has written one; then only the targets for sentences and
    reading ease were checked.
    """

    findings: tuple[VoiceFinding, ...]
    version: int

    @property
    def passed(self) -> bool:
        """Whether the text follows the voice; warnings do not count."""
        return all(finding.severity != "error" for finding in self.findings)


@dataclass(frozen=True, slots=True)
class DuplicateText:
    """A text of the account that is similar to an article, or has the same keyphrase.

    `content_id` is empty for a page that was not written on this server. `similarity` is the share of both texts that
    is the same, from 0 to 1; `exact` is whether the texts themselves were compared. `shared` lists passages that both
    have, and `keyphrase: …` if both have the same one.
    """

    content_id: str
    url: str
    title: str
    similarity: float
    shared: tuple[str, ...]
    exact: bool


class TextChecker(Protocol):
    """Checks texts by fixed rules. Texts of other accounts are not found."""

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
            website_id: the website; `None` means the one that the stored article is meant for, if any.
            content_id: a stored article. For a text that is not stored, use the arguments below instead.
            title: the headline.
            body: the text.
            body_format: the format of `body`.
            language: the language tag; empty means the website's language.

        Raises:
            NotFound: the account has no such website or article.
            InvalidInput: the body cannot be rendered.
        """

    async def duplicates(self, user_id: str, content_id: str, threshold: float = 0.8) -> Sequence[DuplicateText]:
        """Return texts whose similarity to a stored article is at least `threshold`, or that have its keyphrase.

        The most similar texts come first. Articles in the trash do not count. Raises `NotFound`.
        """


@dataclass(frozen=True, slots=True)
class ScoredArticle:
    """The article to score, with its fields as they are stored. `body_format` is `markdown` or `html`."""

    title: str
    body: str
    body_format: str
    slug: str = ""
    excerpt: str = ""
    keyphrase: str = ""
    synonyms: tuple[str, ...] = ()
    meta_title: str = ""
    meta_description: str = ""
    language: str = ""
    canonical_url: str = ""
    featured_image: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """A score from 0 to 100, and instructions for the changes that would raise it most, best first.

    `words` is the scorer's number of words in the body, so that every page and tool shows the same number; `None` if it
    is unknown.
    """

    score: int
    top_fixes: tuple[str, ...] = ()
    words: int | None = None


@dataclass(frozen=True, slots=True)
class ScoreCheck:
    """One check of an article. `gain` is the number of points by which the score rises if only this check becomes good.

    `area` is the group of the check, such as `readability`. `message` is the finding, `threshold` the condition for
    `good`, and `fix` the instruction, empty if nothing needs a fix; `evidence` lists the passages in question.
    """

    id: str
    area: str
    status: Literal["good", "ok", "bad", "skipped"]
    message: str
    threshold: str = ""
    fix: str = ""
    gain: float = 0.0
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SnippetLine:
    """A line of a search result. `width` and `limit` are in CSS pixels; `text` ends with an ellipsis if it is cut."""

    text: str
    width: int
    limit: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class SearchSnippet:
    """How a search result looks on one kind of device, such as `Desktop`."""

    device: str
    title: SnippetLine
    url: SnippetLine
    description: SnippetLine


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """A score with all its details.

    `areas` are scores from 0 to 100, or `None` if no check of an area applies. `caps` describes faults that limit the
    score regardless of the other checks. `warnings` are about the snippets, `notes` about the whole article. Scores of
    different `ruleset`s cannot be compared.
    """

    score: int
    rating: Literal["good", "ok", "poor"]
    areas: tuple[tuple[str, int | None], ...]
    checks: tuple[ScoreCheck, ...]
    caps: tuple[str, ...] = ()
    snippets: tuple[SearchSnippet, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    language: str = ""
    ruleset: str = ""
    words: int | None = None


@dataclass(frozen=True, slots=True)
class ArticleScorer:
    """Scores articles. Offer it through the hook `pressroom_article_scorers`.

    Only one scorer is used: the one whose name the operator sets in `scorer`, or otherwise the first by plugin id.

    `score` must be a module-level function, since it runs in a worker process. It must not raise for any text.
    `report`, if present, scores a stored article for the dashboard. It takes the ids of the account and of the article,
    and raises `NotFound`.

    `prepare`, if present, is used instead of `score`. It takes the article, with its account and website, and returns a
    function without arguments, which is pickled, runs in a worker process and returns the score. If the article is not
    stored yet, its `id` is empty. The score must be the same as the one that `report` returns later.
    """

    name: str
    score: Callable[[ScoredArticle], Score]
    report: Callable[[str, str], Awaitable[ScoreReport]] | None = None
    prepare: Callable[[Article], Awaitable[Callable[[], Score]]] | None = None
