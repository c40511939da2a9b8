"""Article checks agree with Yoast SEO's analysis, except where a difference is explained."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Final

import pytest
from pressroom_seo.scoring import ScoringArticle, ScoringReport, score
from support.doc_examples import DOCS
from support.seo_articles import GOOD
from support.yoastseo import ASSESSMENTS, LOCALES, YoastVerdicts, version, yoast_verdicts

from .test_languages import SAMPLES, article, long_body

HERE: Final = Path(__file__).parent
PAGE: Final = DOCS / "explanation/agreement-with-yoast.md"
FLOOR: Final = 96.0
"""Minimum agreement in percent, over all pairs of an article and a check that both tools judge."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A pair of verdicts on the same article."""

    article: str
    check: str
    ours: str
    yoast: str


@dataclass(frozen=True, slots=True)
class Opinions:
    """Both tools' verdicts on the same articles, by name."""

    articles: Mapping[str, ScoringArticle]
    ours: Mapping[str, ScoringReport]
    yoast: Mapping[str, YoastVerdicts]

    def pairs(self) -> Iterator[Difference]:
        """Yield each pair of verdicts that both tools give, equal or not."""
        for name, report in self.ours.items():
            by_check = self.yoast[name].by_check
            for check in report.checks:
                if check.status != "skipped" and check.id in by_check:
                    yield Difference(name, check.id, str(check.status), by_check[check.id])

    def differences(self) -> list[Difference]:
        """Return the pairs with different verdicts."""
        return [pair for pair in self.pairs() if pair.ours != pair.yoast]


def articles() -> dict[str, ScoringArticle]:
    """Return sample articles in seven languages, good and bad."""
    samples = {code: article(code) for code in SAMPLES}
    samples["starter"] = GOOD
    samples["bread"] = replace(
        GOOD,
        body=long_body(),
        title="Sourdough bread at home: a complete guide",
        slug="sourdough-bread",
        keyphrase="sourdough bread",
    )
    for file in sorted((HERE / "articles").glob("*.md")):
        _, head, body = file.read_text("utf-8").split("+++\n", 2)
        fields = tomllib.loads(head)
        samples[file.stem] = ScoringArticle(
            body=body.strip(), url=f"https://www.example.com/{fields['slug']}", **fields
        )
    return samples


@pytest.fixture(scope="module")
def opinions() -> Opinions:
    """Return both tools' verdicts on all articles."""
    samples = articles()
    yoast = yoast_verdicts(samples)
    return Opinions(samples, {name: score(article) for name, article in samples.items()}, yoast)


EXPLAINED: Final = tomllib.loads((HERE / "disagreements.toml").read_text("utf-8"))["disagreement"]


def test_there_are_articles_in_every_language_that_both_support() -> None:
    assert len(articles()) >= 19
    assert {article.language for article in articles().values()} == LOCALES.keys()


def test_every_disagreement_is_explained(opinions: Opinions) -> None:
    explained = [Difference(entry["article"], entry["check"], entry["ours"], entry["yoast"]) for entry in EXPLAINED]
    assert sorted(map(str, opinions.differences())) == sorted(map(str, explained))
    assert all(entry["right"] in ("Pressroom", "Yoast SEO", "either") and entry["why"] for entry in EXPLAINED)


def test_the_two_agree_on_most(opinions: Opinions) -> None:
    pairs = list(opinions.pairs())
    assert len(pairs) > 600
    assert 100 * (1 - len(opinions.differences()) / len(pairs)) >= FLOOR


def test_every_check_is_compared_that_both_have(opinions: Opinions) -> None:
    compared = {pair.check for pair in opinions.pairs()}
    advice = {"keyphrase_function_words", "text_alignment", "text_presence"}
    assert compared | advice == set(ASSESSMENTS.values())


def test_words_and_sentences_are_counted_alike(opinions: Opinions) -> None:
    for name, report in opinions.ours.items():
        assert report.words == pytest.approx(opinions.yoast[name].measures["words"], abs=2), name


def test_transition_words_are_counted_like_yoast_seo_does(opinions: Opinions) -> None:
    more = transitions_more(opinions)
    assert len(more) >= 20
    assert max(more.values()) <= 10, more
    assert -4 <= mean(more.values()) <= 0, more


def transitions_more(opinions: Opinions) -> dict[str, float]:
    """Return by how many percentage points our share of sentences with transitions exceeds Yoast SEO's, by article."""
    surplus = {}
    for name, report in opinions.ours.items():
        value = next(check.value for check in report.checks if check.id == "transition_words")
        measures = opinions.yoast[name].measures
        if isinstance(value, int | float):
            surplus[name] = value - 100 * measures["transitions"] / measures["sentences"]
    return surplus


def test_the_page_has_every_disagreement_and_the_share_of_each_check(opinions: Opinions) -> None:
    begin, end = "<!-- begin agreement -->\n", "<!-- end agreement -->"
    before, begin_marker, rest = PAGE.read_text("utf-8").partition(begin)
    part, end_marker, after = rest.partition(end)
    assert begin_marker
    assert end_marker
    expected = f"\n{tables(opinions)}\n\n"
    if os.environ.get("PRESSROOM_TEST_UPDATE"):
        PAGE.write_text(before + begin + expected + end + after, "utf-8")
    else:
        assert part == expected, f"{PAGE.name}: render it anew with PRESSROOM_TEST_UPDATE=1"


def tables(opinions: Opinions) -> str:
    """Render the agreement of each check, and every disagreement, as Markdown."""
    pairs, differences = list(opinions.pairs()), opinions.differences()
    compared, apart = Counter(pair.check for pair in pairs), Counter(pair.check for pair in differences)
    languages = Counter(article.language for article in opinions.articles.values())
    per_language = ", ".join(f"{languages[code]} {code}" for code in sorted(languages))
    equal, share = len(pairs) - len(differences), 100 * (1 - len(differences) / len(pairs))
    more, right = transitions_more(opinions), Counter(entry["right"] for entry in EXPLAINED)
    lines = [
        f"{len(opinions.articles)} articles ({per_language}), `yoastseo` {version()}:",
        (
            f"**{equal} of {len(pairs)} verdicts are the same, {share:.1f} %**. "
            f"Of the {len(differences)} others, Pressroom"
        ),
        f"is right in {right['Pressroom']}, Yoast SEO in {right['Yoast SEO']}, and {right['either']} follow different",
        "limits on purpose.",
        "",
        f"The share of sentences with a transition word is {-mean(more.values()):.1f} percentage points below that of",
        f"Yoast SEO on average, and at most {max(more.values()):.1f} above it.",
        "",
        "| Check | Assessment of Yoast SEO | Both judge | The same |",
        "|---|---|---|---|",
    ]
    for assessment, check in ASSESSMENTS.items():
        if compared[check]:
            lines.append(f"| `{check}` | `{assessment}` | {compared[check]} | {compared[check] - apart[check]} |")
    lines += ["", "| Article | Check | Pressroom | Yoast SEO | Right | Why |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {entry['article']} | `{entry['check']}` | {entry['ours']} | {entry['yoast']} "
        f"| {entry['right']} | {entry['why']} |"
        for entry in sorted(EXPLAINED, key=lambda entry: (entry["check"], entry["article"]))
    ]
    return "\n".join(lines)
