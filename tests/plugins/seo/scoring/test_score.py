"""The score: its calculation, its gates, and whether it agrees with an editor's judgement."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pressroom.sdk import InvalidInput
from pressroom_seo.scoring import ScoringArticle, ScoringReport, World, rule_set, score
from support.seo_articles import GOOD, GOOD_BODY, check, filler, with_changes


def status_of(report: ScoringReport, name: str) -> str:
    return next(result.status for result in report.checks if result.id == name)


def lost(before: ScoringReport, after: ScoringReport) -> set[str]:
    """Return the checks that have fewer points than before."""
    points = {result.id: result.points or 0 for result in before.checks if result.points is not None}
    return {
        result.id for result in after.checks if result.points is not None and result.points < points.get(result.id, 0)
    }


def test_a_good_article_scores_well() -> None:
    report = score(GOOD)
    assert report.score >= 95
    assert report.rating == "good"
    assert report.gates == ()
    assert report.ruleset == "seo-en@3"


def test_the_score_is_the_weighted_share_of_the_points() -> None:
    report = score(with_changes(description="", authors=(), title="A guide for everyone who bakes"))
    scored = [result for result in report.checks if result.points is not None]
    total = sum(result.weight for result in scored)
    won = sum(result.weight * (result.points or 0) for result in scored)
    assert report.score == report.ungated == int(100 * won / total + 0.5)


def test_a_gain_is_the_rise_of_the_score() -> None:
    bare = score(with_changes(description=""))
    gain = next(result.gain for result in bare.checks if result.id == "meta_description_length")
    total_weight = sum(result.weight for result in bare.checks if result.points is not None)
    assert gain == pytest.approx(100 * 3 / total_weight, abs=0.05)
    gains = [action.gain for action in bare.next_actions]
    assert gains == sorted(gains, reverse=True)
    assert bare.next_actions[0].check == "meta_description_length"
    assert bare.next_actions[0].fix


def test_the_headline_is_not_among_the_other_h1_headings() -> None:
    two = check("single_h1", with_changes(body=f"# {GOOD.title}\n\n# The oven"))
    assert (two.value, two.message) == (1, "The body has 1 H1 heading beside the title.")
    assert [piece.text for piece in two.evidence] == ["The oven"]


def test_keyphrase_stuffing_caps_the_score_at_50() -> None:
    stuffed = score(with_changes(body=GOOD_BODY + "\n\n" + "Sourdough starter is a sourdough starter. " * 12))
    assert [gate.id for gate in stuffed.gates] == ["stuffing"]
    assert stuffed.score == 50 < stuffed.ungated
    assert stuffed.rating == "poor"
    assert stuffed.next_actions[0].check == "keyphrase_density"
    assert stuffed.next_actions[0].gain > 20


def test_a_density_of_4_percent_fails_without_a_cap() -> None:
    def text(uses: int) -> str:
        return " ".join(["Sourdough starter."] * uses) + " " + filler(1000 - 2 * uses)

    # Two words count as 0.7 + 2 / 3 of a use.
    assert score(with_changes(body=text(29))).gates == ()
    assert [gate.id for gate in score(with_changes(body=text(30))).gates] == ["stuffing"]


def test_one_use_in_a_very_short_text_is_not_keyphrase_stuffing() -> None:
    short = score(with_changes(body="A sourdough starter is flour and water that wild yeast makes rise by itself."))
    assert "stuffing" not in {gate.id for gate in short.gates}


def test_thin_text_caps_the_score_at_40() -> None:
    thin = score(with_changes(body="\n\n".join(GOOD_BODY.split("\n\n")[:3])))
    assert thin.words < 100
    assert thin.score == 40
    assert thin.next_actions[0].check == "text_length"


@pytest.mark.parametrize(("words", "held"), [(99, True), (100, False)])
def test_the_gate_of_thin_text_is_at_100_words(words: int, held: bool) -> None:
    assert ("too_short" in {gate.id for gate in score(with_changes(body=filler(words))).gates}) is held


def test_noindex_caps_the_score_at_30_and_no_title_at_20() -> None:
    assert score(with_changes(robots=("noindex",))).score == 30
    assert score(GOOD, world=World(robots_blocked=True)).score == 30
    assert score(with_changes(title="")).score == 20
    assert score(with_changes(title="", robots=("noindex",))).score == 20


def test_an_empty_text_caps_the_score_at_10_until_something_is_written() -> None:
    empty = score(with_changes(body=""))
    assert empty.score == 10
    assert {gate.id for gate in empty.gates} == {"no_text", "too_short"}
    gains = {result.id: result.gain for result in empty.checks}
    assert gains["text_length"] > gains["text_presence"] == 30


def test_with_an_open_gate_other_checks_have_no_gain() -> None:
    report = score(with_changes(robots=("noindex",), description=""))
    gains = {result.id: result.gain for result in report.checks}
    assert gains["meta_description_length"] == 0
    assert gains["indexable"] > 50


def test_missing_metadata_costs_the_weight_of_its_checks() -> None:
    before, after = score(GOOD), score(with_changes(description=""))
    assert lost(before, after) == {"meta_description_length", "keyphrase_in_meta"}
    total_weight = sum(result.weight for result in before.checks if result.points is not None)
    assert before.score - after.score == pytest.approx(100 * 5 / total_weight, abs=1)


def test_passive_prose_costs_the_weight_of_its_check_and_is_located() -> None:
    active = "Ada bakes the bread. We weigh the flour. You heat the oven. Al shapes a loaf by hand. "
    passive = "The bread is baked. Flour is weighed. The oven is heated. A loaf is shaped by hand. "
    before = score(with_changes(body=f"{GOOD_BODY}\n\n{active}"))
    after = score(with_changes(body=f"{GOOD_BODY}\n\n{passive}"))
    assert lost(before, after) == {"passive_voice"}
    assert before.score > after.score
    check = next(result for result in after.checks if result.id == "passive_voice")
    assert [piece.text for piece in check.evidence[:4]] == [
        "The bread is baked.",
        "Flour is weighed.",
        "The oven is heated.",
        "A loaf is shaped by hand.",
    ]
    assert "under “Common problems”: “is baked”" in check.evidence[0].place


def test_a_wall_of_text_reads_worse() -> None:
    long = " ".join(line for line in GOOD_BODY.split("\n") if not line.startswith(("#", "-", "!")))
    report = score(with_changes(body=long.replace(". ", ", and ") * 2))
    assert status_of(report, "sentence_length") == "bad"
    assert status_of(report, "paragraph_length") == "bad"
    assert status_of(report, "subheading_distribution") == "bad"
    assert status_of(report, "reading_ease") == "bad"
    assert score(GOOD).score - report.score > 10


def test_without_a_keyphrase_the_group_is_skipped_and_the_report_says_so() -> None:
    report = score(with_changes(keyphrase=""))
    assert report.groups["keyphrase"].score is None
    assert report.groups["keyphrase"].skipped == 13
    assert any("keyphrase" in note for note in report.notes)
    assert report.score >= 95


def test_a_language_without_rules_skips_checks_that_need_them_and_says_so() -> None:
    report = score(
        ScoringArticle(body="Det här är en text om bröd. " * 40, title="Bröd", language="sv", keyphrase="bröd")
    )
    for name in ("passive_voice", "transition_words", "reading_ease", "sentence_beginnings", "word_complexity"):
        assert status_of(report, name) == "skipped"
    assert report.ruleset == "seo-und@3"
    assert any("“sv”" in note for note in report.notes)


@pytest.mark.parametrize(
    ("language", "body"),
    [
        ("de", "Ein Sauerteig braucht nur Mehl und Wasser. Deshalb ist er billig. Das Brot wurde gestern gebacken."),
        (
            "fr",
            "Le levain est de la farine et de l'eau. Cependant, il faut attendre. Le pain a été mangé par le chien.",
        ),
        ("es", "La masa madre es harina y agua. Sin embargo, hay que esperar. El pan fue comido por el perro."),
        ("it", "La pasta madre è farina e acqua. Tuttavia, bisogna aspettare. Il pane è stato mangiato dal cane."),
        ("pt", "O fermento natural é farinha e água. No entanto, é preciso esperar. O pão foi comido pelo cão."),
        ("nl", "Zuurdesem is bloem en water. Daarom is het goedkoop. Het brood werd gisteren door de hond gegeten."),
    ],
)
def test_six_more_languages_have_their_own_rules(language: str, body: str) -> None:
    report = score(ScoringArticle(body=f"{body}\n\n" * 15, title="T", language=language))
    for name in ("passive_voice", "transition_words", "reading_ease", "word_complexity", "link_text"):
        assert status_of(report, name) != "skipped" or name == "link_text"
    values = {result.id: result.value for result in report.checks}
    assert values["passive_voice"] == pytest.approx(33.3)
    assert values["transition_words"] == pytest.approx(33.3)
    assert report.ruleset == f"seo-{language}@3"


def test_the_language_is_detected_if_none_is_given() -> None:
    report = score(with_changes(language=""))
    assert report.language == "en"
    assert status_of(report, "language") == "ok"
    assert status_of(report, "reading_ease") == "good"


ALIKE = " ".join(f"The bread is baked by the baker, and the loaf {number} is eaten." for number in range(40))


@pytest.mark.parametrize(
    "changes",
    [
        {"body": "Short.", "description": ""},
        {"body": f"{ALIKE}\n\n![{'long ' * 60}](/a.png)", "description": "Sourdough " * 9, "language": ""},
        {"body": filler(400), "canonicals": ("https://other.example/",), "description": "Short."},
        {"body": "# Only a heading"},
    ],
    ids=("short", "alike", "other", "heading"),
)
def test_a_fix_is_clear_without_the_message(changes: dict[str, Any]) -> None:
    fixes = [check.fix for check in score(with_changes(**changes)).checks if check.fix]

    assert len(fixes) >= 5
    assert [
        fix for fix in fixes if re.search(r"^\w+ (it|them|one (with|that|of them))\b|needs it|list there", fix)
    ] == []


def test_only_selected_checks_are_scored() -> None:
    report = score(with_changes(description="", body="Short."), checks=["meta_description_length", "title_present"])
    assert [result.id for result in report.checks] == ["title_present", "meta_description_length"]
    assert report.score == 50
    assert report.gates == ()


def test_checks_that_do_not_apply_leave_a_score_of_0_and_a_note() -> None:
    report = score(GOOD, checks=["llms_entry"])
    assert report.score == 0
    assert "No check with a weight applies" in report.notes[0]


def test_an_unknown_check_or_profile_is_named() -> None:
    with pytest.raises(InvalidInput, match="did you mean title_width"):
        score(GOOD, checks=["title_with"])
    with pytest.raises(InvalidInput, match="default, cornerstone, news, product"):
        score(GOOD, "blog")


def test_a_report_is_plain_json_and_explains_itself() -> None:
    report = score(with_changes(description="", title="Bread"))
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["score"] == report.score
    for result in plain["checks"]:
        assert result["message"]
        assert result["threshold"]
        assert result["source"]
        assert "{" not in result["threshold"]
    assert plain["checks"][0]["status"] == "good"


def test_the_same_article_gets_the_same_report() -> None:
    assert score(GOOD) == score(GOOD)


def test_markdown_and_html_of_an_article_score_alike() -> None:
    from markdown_it import MarkdownIt  # noqa: PLC0415

    html = MarkdownIt().render(GOOD_BODY)
    first, second = score(GOOD), score(with_changes(body=html, format="html"))
    differing = {
        result.id for result, other in zip(first.checks, second.checks, strict=True) if result.value != other.value
    }
    assert differing == {"image_dimensions"}


def test_every_profile_has_every_check() -> None:
    assert len({tuple(rule_set(name).rules) for name in ("default", "cornerstone", "news", "product")}) == 1
