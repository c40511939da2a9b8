"""A second opinion on articles: the published analysis of Yoast SEO (npm's `yoastseo`, GPL), run in a separate process.

Tests compare verdicts with it, purely by behaviour. Nothing that is distributed contains it or depends on it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from markdown_it import MarkdownIt
from pressroom_seo.scoring import ScoringArticle, pixel_width

from support.downloads import npm_packages
from support.needs import program

_FOLDER: Final = Path(__file__).parent
_SECONDS: Final = 300

LOCALES: Final = {
    "de": "de_DE",
    "en": "en_US",
    "es": "es_ES",
    "fr": "fr_FR",
    "it": "it_IT",
    "nl": "nl_NL",
    "pt": "pt_BR",
}
"""The locale names in WordPress for the languages supported by both."""

ASSESSMENTS: Final = {
    "introductionKeyword": "keyphrase_in_intro",
    "keyphraseLength": "keyphrase_length",
    "keyphraseDensity": "keyphrase_density",
    "keyphraseDistribution": "keyphrase_distribution",
    "keyphraseInSEOTitle": "keyphrase_in_title",
    "metaDescriptionKeyword": "keyphrase_in_meta",
    "slugKeyword": "keyphrase_in_slug",
    "subheadingsKeyword": "keyphrase_in_subheadings",
    "imageKeyphrase": "keyphrase_in_alt",
    "textCompetingLinks": "competing_links",
    "functionWordsInKeyphrase": "keyphrase_function_words",
    "textTitleAssessment": "title_present",
    "titleWidth": "title_width",
    "metaDescriptionLength": "meta_description_length",
    "textLength": "text_length",
    "singleH1": "single_h1",
    "subheadingsTooLong": "subheading_distribution",
    "internalLinks": "internal_links",
    "externalLinks": "outbound_links",
    "images": "image_count",
    "textPresence": "text_presence",
    "textSentenceLength": "sentence_length",
    "textParagraphTooLong": "paragraph_length",
    "passiveVoice": "passive_voice",
    "textTransitionWords": "transition_words",
    "sentenceBeginnings": "sentence_beginnings",
    "textAlignment": "text_alignment",
}
"""Maps each assessment of Yoast SEO to the corresponding check."""


@dataclass(frozen=True, slots=True)
class YoastVerdicts:
    """Yoast SEO's verdicts on an article, `good`, `ok` or `bad` by check, and its measurements.

    Checks without a verdict or with advice only are left out.
    """

    by_check: Mapping[str, str]
    measures: Mapping[str, float]


def version() -> str:
    """Return the version of the package."""
    return str(json.loads((_FOLDER / "package.json").read_text())["dependencies"]["yoastseo"])


def yoast_verdicts(articles: Mapping[str, ScoringArticle]) -> dict[str, YoastVerdicts]:
    """Return the verdicts on articles, all from one process. Without npm or the package the test is skipped.

    Raises `KeyError` if an article's language is not in `LOCALES`.
    """
    modules = npm_packages("yoastseo", _FOLDER / "package.json")
    papers = json.dumps([_paper(name, article) for name, article in articles.items()])
    result = subprocess.run(
        [program("node"), str(_FOLDER / "judge.mjs"), str(modules)],
        input=papers,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return {judgement["name"]: _verdicts(judgement) for judgement in json.loads(result.stdout)}


def _verdicts(judgement: Mapping[str, Any]) -> YoastVerdicts:
    unknown = judgement["verdicts"].keys() - ASSESSMENTS.keys()
    assert not unknown, f"assessments without a check: {sorted(unknown)}"
    ratings = _rated(judgement["verdicts"].items())
    return YoastVerdicts(dict(ratings), judgement["measures"])


def _rated(verdicts: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    return ((ASSESSMENTS[name], rating) for name, rating in verdicts if rating in ("good", "ok", "bad"))


def _paper(name: str, article: ScoringArticle) -> dict[str, Any]:
    return {
        "name": name,
        "language": article.language,
        "locale": LOCALES[article.language],
        "text": MarkdownIt("commonmark").enable("table").render(article.body),
        "keyword": article.keyphrase,
        "synonyms": ", ".join(article.synonyms),
        "title": article.search_title,
        "textTitle": article.title,
        # Browsers measure this with Arial; other tests verify the widths used here against that font.
        "titleWidth": round(pixel_width(article.search_title, 20)),
        "description": article.description,
        "slug": article.slug,
        "permalink": article.url,
    }
