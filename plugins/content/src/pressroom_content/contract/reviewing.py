"""What plugins can say of an article: its score, and what they add to its check.

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
        """Whether the text follows the voice; warnings do not count."""
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


@dataclass(frozen=True, slots=True)
class ScoredArticle:
    """What is scored: the fields of an article as they are stored. `body_format` is `markdown` or `html`."""

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
    """A score from 0 to 100, and what would raise it most, in words, best first.

    `words` is how many words the scorer counts in the body, so that every page and tool shows one number; `None` where
    it does not know.
    """

    score: int
    top_fixes: tuple[str, ...] = ()
    words: int | None = None


@dataclass(frozen=True, slots=True)
class ScoreCheck:
    """One check of an article. `gain` is by how many points the score rises when this check alone becomes good.

    `area` is what it belongs to, such as `readability`; `message` is what was seen, `threshold` what is good, `fix`
    what to do, empty where nothing is to be done; `evidence` are the places that it is about.
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
    """A line of a search result. `width` and `limit` are in CSS pixels; `text` ends in an ellipsis where it is cut."""

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
    """A score with everything behind it.

    `areas` are scores from 0 to 100, `None` where no check of an area applies; `caps` are faults that hold the score
    down whatever else is good, in words; `warnings` are about the snippets, `notes` about the whole. Scores of
    different `ruleset`s do not compare.
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

    One scorer is used: the one that the operator names in `scorer`, or else the first by plugin id.

    `score` is a function of a module: it runs in a worker process. It must not raise for any text. `report`, where
    there is one, judges a stored article of an account for the dashboard: the account's id comes first, then the
    article's. It raises `NotFound`.

    `prepare`, where there is one, is used instead of `score`. It knows the account and the article's website, and
    returns a function without arguments, which is pickled, runs in a worker process and returns the score. The article
    may not be stored yet: then its `id` is empty. The score has to be the one that `report` gives afterwards.
    """

    name: str
    score: Callable[[ScoredArticle], Score]
    report: Callable[[str, str], Awaitable[ScoreReport]] | None = None
    prepare: Callable[[Article], Awaitable[Callable[[], Score]]] | None = None
