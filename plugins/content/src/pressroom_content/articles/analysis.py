"""What is worked out from an article's text before it is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import structlog
from pressroom.sdk import BackendError, InvalidInput, PluginContext

from pressroom_content.articles.fields import Draft
from pressroom_content.config import ContentConfig
from pressroom_content.contract import ArticleScorer, Score, ScoredArticle, article_scorers
from pressroom_content.language import count_words, run_with_languages
from pressroom_content.records import Article
from pressroom_content.rendering.sanitising import render
from pressroom_content.rendering.text import text_of
from pressroom_content.text_index.corpus import Fingerprint, fingerprint_of

log = structlog.get_logger()

Scorer = Callable[[ScoredArticle], Score]

_SECONDS: Final = 40.0
"""How long it may take; an honest article of two megabytes takes a quarter of it."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The number of words, what makes the article findable, and its score where something on this server scores."""

    word_count: int
    fingerprint: Fingerprint
    score: Score | None


async def analyse(plugin: PluginContext[ContentConfig], article: Article) -> Analysis:
    """Return what the text of an article comes to, worked out in worker processes. It need not be stored yet.

    Raises:
        InvalidInput: the body is too large, nested too deep, or too intricate to be rendered in time.
    """
    draft, owner = Draft.of(article), article.user_id
    check_size(plugin, draft.body)
    scorer, workers = scorer_of(plugin), plugin.services.workers
    score = scorer.score if scorer and scorer.rate is None else None
    analysing = run_with_languages(workers, _analysed, draft, score, owner=owner, what="the article", seconds=_SECONDS)
    if scorer is None or scorer.rate is None:
        return await analysing
    # Meanwhile what is known around the article can be read.
    rating = asyncio.create_task(rated(plugin, scorer, article), name="rate an article")
    try:
        found = await analysing
    except BaseException:
        rating.cancel()
        await asyncio.wait({rating})
        raise
    return _with_score(found, await rating)


def check_size(plugin: PluginContext[ContentConfig], body: str) -> None:
    """Refuse a body that is larger than an article may have. Raises `InvalidInput`."""
    most = plugin.config.max_body_bytes
    size = len(body.encode("utf-8", "surrogatepass"))
    if size > most:
        raise InvalidInput("body", f"has {size:,} bytes; an article may have {most:,}. Split it into several articles")


async def counted(plugin: PluginContext[ContentConfig], older: Article) -> Article:
    """Return an older version of an article with its own number of words and score, not those of the newest."""
    try:
        found = await analyse(plugin, older)
    except InvalidInput:  # it was stored under bounds that were wider
        return replace(older, word_count=count_words(older.body), score=None)
    return replace(older, word_count=found.word_count, score=found.score.score if found.score else None)


async def rated(plugin: PluginContext[ContentConfig], scorer: ArticleScorer, article: Article) -> Score | None:
    """Return the score of an article with all that is known around it; `None` where its scorer fails."""
    if scorer.rate is None:
        return None
    try:
        with plugin.extensions.calling(f"scorer {scorer.name}", scorer):
            return await scorer.rate(article)
    except BackendError:
        raise
    except Exception:
        # It belongs to another plugin; what somebody has written must not be lost for its sake.
        log.exception("an article could not be scored", scorer=scorer.name)
        return None


def _with_score(found: Analysis, score: Score | None) -> Analysis:
    words = found.word_count if score is None or score.words is None else score.words
    return replace(found, word_count=words, score=score)


def plain_text(draft: Draft) -> str:
    """Return the text of an article without its title. Raises `InvalidInput`."""
    return text_of(render(draft.body, draft.body_format).html)


def _analysed(draft: Draft, scorer: Scorer | None) -> Analysis:
    text = plain_text(draft)
    found = Analysis(count_words(text), fingerprint_of(draft.title, text, draft.language), None)
    return found if scorer is None else _with_score(found, _scored(draft, scorer))


def _scored(draft: Draft, scorer: Scorer) -> Score | None:
    try:
        return scorer(
            ScoredArticle(
                title=draft.title,
                body=draft.body,
                body_format=draft.body_format,
                slug=draft.slug,
                excerpt=draft.excerpt,
                keyphrase=draft.keyphrase,
                synonyms=draft.synonyms,
                meta_title=draft.meta_title,
                meta_description=draft.meta_description,
                language=draft.language,
                canonical_url=draft.canonical_url,
                featured_image=bool(draft.featured_media_id),
            )
        )
    except Exception:
        # It belongs to another plugin; what somebody has written must not be lost for its sake.
        log.exception("an article could not be scored", scorer=f"{scorer.__module__}.{scorer.__qualname__}")
        return None


def scorer_of(plugin: PluginContext[ContentConfig]) -> ArticleScorer | None:
    """Return what scores articles on this server: the scorer that the operator chose, or else the first by plugin id.

    It is `None` where no plugin offers one, or none of the name that was chosen.
    """
    chosen = plugin.config.scorer
    return next((scorer for _, scorer in article_scorers(plugin) if chosen in ("", scorer.name)), None)
