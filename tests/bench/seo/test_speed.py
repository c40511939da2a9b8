"""CPU time of scoring an article of 3000 words."""

from __future__ import annotations

import random
import statistics
import time
from dataclasses import replace

from markdown_it import MarkdownIt
from pressroom_seo.scoring import ScoringArticle, score

ROUNDS = 15
BOUND = 0.1
"""Maximum median of CPU time, in seconds."""


def _article(seed: int) -> ScoringArticle:
    dice = random.Random(seed)
    stems = [
        "bread",
        "flour",
        "water",
        "starter",
        "yeast",
        "oven",
        "dough",
        "crust",
        "baker",
        "morning",
        "loaf",
        "recipe",
        "temperature",
        "fermentation",
    ]
    vocabulary = [
        stem + ending for stem in stems for ending in ("", "s", "ed", "ing", "ly", "er", "ness", "ful", "able")
    ]
    blocks: list[str] = []
    words = 0
    while words < 3000:
        if len(blocks) % 4 == 0:
            blocks.append(f"## What is sourdough number {len(blocks)}?")
        sentences = []
        for _ in range(5):
            chosen = dice.choices(vocabulary, k=dice.randint(8, 24))
            chosen[:0] = dice.choice([[], ["however"], ["the", "sourdough", "starters", "were", "quickly", "eaten"]])
            sentences.append(" ".join(chosen).capitalize() + ".")
        paragraph = " ".join(sentences)
        words += len(paragraph.split())
        blocks += [paragraph, f"- see [this *guide*](/guide/{seed})\n- and ![a jar](jar-{len(blocks)}.jpg)"]
    return ScoringArticle(
        body="\n\n".join(blocks),
        title="Sourdough starter: how to make one in seven days",
        description="Make a sourdough starter from flour and water. " * 3,
        keyphrase="sourdough starter",
        synonyms=("levain culture", "natural yeast"),
        secondary_phrases=("rye flour", "open crumb"),
        url="https://example.com/sourdough-starter",
        language="en",
        robots=(),
    )


def _median(articles: list[ScoringArticle]) -> float:
    times = []
    for article in articles:
        began = time.process_time()
        score(article)
        times.append(time.process_time() - began)
    return statistics.median(times)


def test_an_article_of_3000_words_is_scored_in_under_100_ms() -> None:
    articles = [_article(seed) for seed in range(ROUNDS)]
    began = time.perf_counter()
    words = score(articles[0]).words
    first = time.perf_counter() - began
    markdown = _median(articles)
    render = MarkdownIt().render
    html = _median([replace(article, body=render(article.body), format="html") for article in articles])
    figures = f"Markdown {1e3 * markdown:.1f} ms, HTML {1e3 * html:.1f} ms, the first {1e3 * first:.0f} ms"
    print(f"\n{words} words: {figures}")
    assert words >= 3000
    assert markdown < BOUND
    assert html < BOUND
