"""What is worked out from an article's text before it is stored."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import structlog
from pressroom.sdk import InvalidInput, PluginContext

from pressroom_content.articles.fields import Draft
from pressroom_content.contract import ArticleScorer, Score, ScoredArticle
from pressroom_content.rendering.sanitising import render
from pressroom_content.rendering.text import text_of
from pressroom_content.rendering.words import count_words
from pressroom_content.text_index.corpus import Fingerprint, fingerprint_of

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Analysis:
    """The number of words, what makes the article findable, and its score where something on this server scores."""

    word_count: int
    fingerprint: Fingerprint
    score: Score | None


async def analyse(plugin: PluginContext, draft: Draft) -> Analysis:
    """Return what an article's text comes to, worked out in a thread.

    Raises:
        InvalidInput: the body is too large, nested too deep, or too intricate to be rendered in time.
    """
    most = plugin.config.max_body_bytes
    size = len(draft.body.encode("utf-8", "surrogatepass"))
    if size > most:
        raise InvalidInput("body", f"has {size:,} bytes; an article may have {most:,}. Split it into several articles")
    return await asyncio.to_thread(_analysed, draft, scorer_of(plugin))


def plain_text(draft: Draft) -> str:
    """Return the text of an article without its title. Raises `InvalidInput`."""
    return text_of(render(draft.body, draft.body_format).html)


def _analysed(draft: Draft, scorer: ArticleScorer | None) -> Analysis:
    text = plain_text(draft)
    return Analysis(
        word_count=count_words(text),
        fingerprint=fingerprint_of(draft.title, text, draft.language),
        score=_scored(draft, scorer) if scorer is not None else None,
    )


def _scored(draft: Draft, scorer: ArticleScorer) -> Score | None:
    try:
        return scorer.score(
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
        log.exception("an article could not be scored", scorer=scorer.name)
        return None


def scorer_of(plugin: PluginContext) -> ArticleScorer | None:
    """Return what scores articles on this server, if anything does."""
    scorers = sorted(plugin.extensions.of("pressroom_article_scorers"), key=lambda pair: pair[0])
    return scorers[0][1] if scorers else None
