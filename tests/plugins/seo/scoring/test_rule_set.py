"""The rule set in numbers: the weight and limits of each check. A change here changes everybody's scores."""

from __future__ import annotations

from typing import Final

import pytest
from pressroom_seo.scoring import PROFILES, rule_set
from pressroom_seo.scoring.snippet import DESKTOP

LIMITS: Final[dict[str, dict[str, dict[str, float]]]] = {
    "keyphrase": {
        "keyphrase_set": {"weight": 0},
        "keyphrase_length": {"weight": 2, "good": 4, "ok": 8},
        "keyphrase_in_title": {"weight": 4},
        "keyphrase_in_intro": {"weight": 4},
        "keyphrase_density": {
            "weight": 4,
            "low": 0.5,
            "high": 3.0,
            "high_inflected": 3.5,
            "least": 2,
            "short": 100,
            "very_short": 51,
        },
        "keyphrase_distribution": {"weight": 2, "good": 30, "ok": 50, "from": 15},
        "keyphrase_in_meta": {"weight": 2, "least": 1, "most": 2},
        "keyphrase_in_slug": {"weight": 2},
        "keyphrase_in_subheadings": {"weight": 2, "low": 30, "high": 75},
        "keyphrase_in_alt": {"weight": 1, "many": 5, "low": 30, "high": 75},
        "competing_links": {"weight": 2},
        "keyphrase_unique": {"weight": 0, "good": 0, "ok": 1},
        "keyphrase_function_words": {"weight": 0},
    },
    "metadata": {
        "title_present": {"weight": 3},
        "title_width": {"weight": 3, "low": 200, "high": 600},
        "title_unique": {"weight": 0},
        "meta_description_length": {"weight": 3, "low": 121, "high": 156, "ok": 170},
        "meta_description_unique": {"weight": 0},
        "slug_quality": {"weight": 1, "good": 75, "ok": 100},
        "canonical": {"weight": 2},
        "indexable": {"weight": 4},
        "language": {"weight": 1},
        "social_tags": {"weight": 1, "width": 1200, "height": 630},
        "structured_data": {"weight": 2},
        "author_and_dates": {"weight": 1},
    },
    "structure": {
        "text_length": {"weight": 4, "good": 300, "ok": 250},
        "single_h1": {"weight": 2},
        "heading_order": {"weight": 1},
        "subheading_distribution": {"weight": 2, "good": 300, "ok": 350},
        "intro_length": {"weight": 1, "low": 20, "high": 120, "ok": 150},
        "scannable": {"weight": 1, "every": 400, "from": 800, "heading_words": 10},
    },
    "links": {
        "internal_links": {"weight": 3, "long": 800},
        "outbound_links": {"weight": 2},
        "link_text": {"weight": 1},
        "crawlable_links": {"weight": 1},
        "broken_links": {"weight": 0},
    },
    "media": {
        "image_count": {"weight": 2, "good": 1},
        "image_alt": {"weight": 2, "longest": 100},
        "image_dimensions": {"weight": 1},
        "image_weight": {"weight": 1, "good": 500_000, "ok": 1_000_000},
        "image_credit": {"weight": 1},
    },
    "readability": {
        "sentence_length": {"weight": 2, "words": 20, "good": 25, "ok": 30},
        "paragraph_length": {"weight": 2, "good": 150, "ok": 200},
        "passive_voice": {"weight": 1, "good": 10, "ok": 15},
        "transition_words": {"weight": 1, "good": 30, "ok": 20, "from": 200},
        "sentence_beginnings": {"weight": 1, "row": 3},
        "reading_ease": {"weight": 2},
        "word_complexity": {"weight": 1, "good": 10},
        "text_alignment": {"weight": 0, "longest": 50},
        "text_presence": {"weight": 0, "good": 50},
        "inclusive_language": {"weight": 0},
    },
    "discovery": {
        "markdown_twin": {"weight": 0, "good": 90},
        "llms_entry": {"weight": 0, "shortest": 50},
        "answer_first": {"weight": 1, "words": 60, "sentences": 2},
        "secondary_phrases": {"weight": 1, "good": 50},
    },
}
GATES: Final = {
    "stuffing": ("keyphrase_density", 4, 50),
    "too_short": ("text_length", 100, 40),
    "no_title": ("title_present", 0, 20),
    "not_indexable": ("indexable", 0, 30),
    "no_text": ("text_presence", 50, 10),
}


def test_every_check_has_a_weight_and_limits() -> None:
    limits: dict[str, dict[str, dict[str, float]]] = {}
    for rule in rule_set().rules.values():
        limits.setdefault(rule.group, {})[rule.id] = {"weight": rule.weight, **rule.limits}
    assert limits == LIMITS


def test_checks_that_depend_on_more_than_the_version_do_not_count() -> None:
    around = (
        "keyphrase_unique",
        "title_unique",
        "meta_description_unique",
        "broken_links",
        "markdown_twin",
        "llms_entry",
    )
    assert {rule_set(profile).rules[name].weight for profile in PROFILES for name in around} == {0}


def test_every_gate_has_a_limit_and_a_cap() -> None:
    assert {gate.id: (gate.check, gate.limit, gate.cap) for gate in rule_set().gates} == GATES


def test_the_ratings_start_at_80_and_60() -> None:
    assert (rule_set().good, rule_set().ok) == (80, 60)


@pytest.mark.parametrize(
    ("profile", "changes"),
    [
        ("cornerstone", {"text_length": {"good": 900, "ok": 400}, "subheading_distribution": {"good": 250, "ok": 300}}),
        ("news", {"text_length": {"good": 250, "ok": 200}}),
        ("product", {"text_length": {"good": 200, "ok": 150}}),
    ],
)
def test_a_profile_changes_only_what_it_declares(profile: str, changes: dict[str, dict[str, float]]) -> None:
    plain, other = rule_set().rules, rule_set(profile).rules
    differing = {name: dict(other[name].limits) for name in plain if plain[name].limits != other[name].limits}
    assert differing == changes


def test_a_title_is_measured_by_the_line_of_a_search_result() -> None:
    assert DESKTOP.title.width == rule_set().rules["title_width"]["high"]
