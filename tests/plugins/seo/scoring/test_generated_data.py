"""Structured data generated for an article: posts, FAQ pages, instructions and breadcrumbs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pressroom.sdk import InvalidInput
from pressroom_seo.scoring import (
    BUILDABLE,
    ScoringArticle,
    build_structured_data,
    score,
    validate_structured_data,
)
from support.seo_articles import GOOD, with_changes


@pytest.mark.parametrize("type_name", ["BlogPosting", "Article", "NewsArticle"])
def test_an_article_is_built_completely(type_name: str) -> None:
    article = with_changes(site_name="Bread", site_logo="https://example.com/logo.png")
    result = build_structured_data(article, type_name)
    assert result.missing == ()
    assert result.warnings == ()
    data = result.json_ld
    assert data["@type"] == type_name
    assert data["headline"] == GOOD.title
    assert data["datePublished"] == "2026-01-05"
    assert data["author"] == [{"@type": "Person", "name": "Ada Baker", "url": "https://example.com/ada"}]
    assert data["image"] == ["https://example.com/img/starter-jar.webp"]
    assert data["publisher"]["logo"]["url"] == "https://example.com/logo.png"
    assert validate_structured_data(data).errors == ()


def test_missing_parts_of_an_article_are_left_out_and_named() -> None:
    result = build_structured_data(ScoringArticle(body="Text", title="T"))
    assert result.missing == ("image", "datePublished", "dateModified", "author")
    assert "author" not in result.json_ld
    assert len(result.warnings) == 4


def test_generated_data_passes_the_check() -> None:
    structured_data = build_structured_data(with_changes(published=datetime(2026, 1, 1, 8, tzinfo=UTC)))
    article = with_changes(structured_data=(structured_data.json_ld,))
    (result,) = score(article, checks=["structured_data"]).checks
    assert result.status == "good"


def test_faq_entries_come_from_the_headings() -> None:
    result = build_structured_data(GOOD, "FAQPage")
    questions = result.json_ld["mainEntity"]
    assert [question["name"] for question in questions] == [
        "What is a sourdough starter?",
        "When is it ready to bake with?",
    ]
    assert questions[1]["acceptedAnswer"]["text"].startswith("Drop a spoonful into a glass of water.")
    assert result.missing == ()
    assert "health and government" in result.warnings[-1]
    assert build_structured_data(ScoringArticle(body="Text"), "FAQPage").missing == ("mainEntity",)


def test_greek_questions_end_with_a_semicolon() -> None:
    article = ScoringArticle(body="## Τι είναι;\n\nΨωμί.", language="el")  # noqa: RUF001
    assert [question["name"] for question in build_structured_data(article, "FAQPage").json_ld["mainEntity"]] == [
        "Τι είναι;"  # noqa: RUF001
    ]


def test_a_question_without_text_is_reported() -> None:
    result = build_structured_data(ScoringArticle(body="## Why?\n\n## How?\n\nSo."), "FAQPage")
    assert result.missing == ("mainEntity.acceptedAnswer",)


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("## Step 1: Mix\n\nMix it.\n\n## Step 2: Bake\n\nBake it.", ["Mix it.", "Bake it."]),
        ("## Schritt 1: Kneten\n\nKneten.\n\n## Schritt 2: Backen\n\nBacken.", ["Kneten.", "Backen."]),
        ("1. Mix\n2. Rest\n3. Bake\n\nText\n\n- a\n- b", ["Mix", "Rest", "Bake"]),
    ],
)
def test_steps_come_from_numbered_headings_or_the_longest_list(body: str, steps: list[str]) -> None:
    result = build_structured_data(ScoringArticle(body=body, title="Bread"), "HowTo")
    assert [step["text"] for step in result.json_ld["step"]] == steps
    assert result.missing == ()


def test_a_breadcrumb_comes_from_the_url_or_the_given_one() -> None:
    trail = build_structured_data(GOOD, "BreadcrumbList").json_ld["itemListElement"]
    assert [(crumb["position"], crumb["name"], crumb["item"]) for crumb in trail] == [
        (1, "example.com", "https://example.com/"),
        (2, "Blog", "https://example.com/blog"),
        (3, GOOD.title, GOOD.url),
    ]
    explicit = build_structured_data(with_changes(breadcrumbs=(("Home", "https://e.com/"),)), "BreadcrumbList")
    assert [crumb["name"] for crumb in explicit.json_ld["itemListElement"]] == ["Home", GOOD.title]
    assert build_structured_data(ScoringArticle(body="x", title="T"), "BreadcrumbList").missing == ("itemListElement",)


def test_another_type_is_refused() -> None:
    with pytest.raises(InvalidInput, match=", ".join(BUILDABLE)):
        build_structured_data(GOOD, "Recipe")
