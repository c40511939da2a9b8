"""How an article gets the score that writing tools show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from pressroom_content.contract.articles import Article


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

    `rate`, where there is one, is used instead of `score`. It knows the account and the article's website, and may run
    before the article is stored: then its `id` is empty. It has to give the score that `report` gives afterwards.
    """

    name: str
    score: Callable[[ScoredArticle], Score]
    report: Callable[[str, str], Awaitable[ScoreReport]] | None = None
    rate: Callable[[Article], Awaitable[Score]] | None = None
