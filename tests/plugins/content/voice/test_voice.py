"""Brand voices: storing them, and checking texts against them."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.sdk import NotFound, PluginContext
from pressroom_content.contract import content_services
from pressroom_content.voice.checking import check, other_spellings
from pressroom_content.voice.store import Voice, syllables_of
from support.content_client import Client


@pytest.fixture
def website(ada: Client) -> str:
    """Return a built-in website of ada's."""
    ada.data("connect_website", platform="builtin", name="Tea blog")
    id_: str = ada.data("list_websites")["websites"][0]["id"]
    return id_


def test_a_guide_is_updated_field_by_field(ada: Client, eve: Client, website: str) -> None:
    assert ada.data("get_website", website_id=website)["voice_version"] == 0
    first = ada.data("set_brand_voice", website_id=website, tone="Warm.", dos=["Say you."], spelling="en-GB")
    assert (first["version"], first["voice"]["tone"]) == (1, "Warm.")
    glossary = {"website": "web site, web-site"}
    second = ada.data("set_brand_voice", website_id=website, glossary=glossary, expected_version=1)
    assert second["version"] == 2
    voice = ada.data("get_website", website_id=website)["voice"]
    assert (voice["tone"], voice["dos"], voice["glossary"]) == ("Warm.", ["Say you."], glossary)
    assert ada.data("set_brand_voice", website_id=website, tone="Warm.", expected_version=1)["version"] == 2
    assert "at version 2, not 1" in ada.refusal("set_brand_voice", website_id=website, tone="x", expected_version=1)
    assert "no website" in eve.refusal("set_brand_voice", website_id=website, tone="x")
    assert "another part" in ada.refusal("set_brand_voice", website_id=website)


def test_of_several_concurrent_changes_one_is_accepted(ada: Client, website: str) -> None:
    def change(number: int) -> bool:
        arguments = {"website_id": website, "tone": f"Tone {number}", "expected_version": 0}
        return not ada.call("set_brand_voice", **arguments).get("isError")

    with ThreadPoolExecutor(5) as pool:
        assert sum(pool.map(change, range(5))) == 1


def test_an_article_is_checked(ada: Client, eve: Client, website: str) -> None:
    ada.data("set_brand_voice", website_id=website, banned_terms=["world class"], spelling="en-GB")
    body = "Our color is **world class**.\n\nFine."
    id_ = ada.data("create_content", title="Tea", body=body)["content_id"]
    checker = content_services(contexts(ada)["search_performance"]).text_checks
    review = ada.host.run(checker.voice_findings(ada.user_id, website, content_id=id_))
    assert (review.passed, review.version) == (False, 1)
    banned, spelling = review.findings
    assert (banned.rule, banned.found, banned.line) == ("banned_term", "world class", 3)
    assert (spelling.rule, spelling.fix) == ("spelling", "Write “colour”.")
    unstored = ada.host.run(checker.voice_findings(ada.user_id, website, body="Our *colour*."))
    assert (unstored.findings, unstored.passed) == ((), True)
    assert ada.host.run(checker.voice_findings(ada.user_id, website, body="Color", language="de")).passed
    for subject, site, content_id in ((eve.user_id, website, ""), (eve.user_id, None, id_)):
        with pytest.raises(NotFound):
            ada.host.run(checker.voice_findings(subject, site, content_id=content_id, body="x"))


def test_code_and_urls_are_not_checked(ada: Client, website: str) -> None:
    voice = {"banned_terms": ["world"], "glossary": {"GitHub": ""}, "spelling": "en-GB"}
    ada.data("set_brand_voice", website_id=website, **voice)
    body = "Run `world --color`, see https://github.com/world.\n\n```css\na {\n\n  color: red;\n}\n```\n\nA world."
    checker = content_services(contexts(ada)["search_performance"]).text_checks
    review = ada.host.run(checker.voice_findings(ada.user_id, website, title="Tea", body=body))
    plain = ada.data("create_content", title="Tea", body=body)["content_id"]
    lines = ada.data("get_content", content_id=plain, format="text")["body"].splitlines()
    [finding] = review.findings
    assert finding.line is not None
    assert (finding.found, lines[finding.line - 3]) == ("world", "A world.")


def test_an_article_is_checked_against_the_voice_of_its_website(ada: Client, website: str) -> None:
    ada.data("set_brand_voice", website_id=website, banned_terms=["leverage"])
    checker = content_services(contexts(ada)["search_performance"]).text_checks
    unowned = ada.data("create_content", title="Leverage", body="Tea.", website_id=website)["content_id"]
    none = ada.data("create_content", title="Leverage", body="Tea.")["content_id"]
    assert not ada.host.run(checker.voice_findings(ada.user_id, None, content_id=unowned)).passed
    unguided = ada.host.run(checker.voice_findings(ada.user_id, None, content_id=none))
    assert (unguided.passed, unguided.version) == (True, 0)
    ada.data("disconnect_website", website_id=website, confirm=True)
    assert ada.host.run(checker.voice_findings(ada.user_id, None, content_id=unowned)).version == 0


def contexts(client: Client) -> Mapping[str, PluginContext]:
    return client.host.host.compiled.plugins.contexts


def rules(text: str, voice: Voice, language: str = "en") -> list[tuple[str, str]]:
    return [(finding.rule, finding.found) for finding in check(text, voice, language)]


def test_terms_match_as_whole_words_in_any_case() -> None:
    voice = Voice(banned_terms=("synergy", "c++"), glossary={"GitHub": "git hub", "website": "web site,web-site"})
    text = "Synergy! Synergyx. C++ rocks. Github and git  hub, a Web site. Website. GitHub website WEBSITE"
    assert rules(text, voice) == [
        ("banned_term", "Synergy"),
        ("banned_term", "C++"),
        ("glossary", "Github"),
        ("glossary", "git  hub"),
        ("glossary", "Web site"),
        ("glossary", "WEBSITE"),
    ]


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("シナジー", "このシナジー効果が大きい。", 1),
        ("シナジー効果", "このシナジー効果が大きい。", 1),
        ("京都", "東京都に行く。京都に行く。", 1),
        ("AI", "これはAIを使う。これはAIRです。", 1),
        ("协同效应", "我们利用协同效应创造价值。", 1),
        ("กาแฟ", "ฉันชอบดื่มกาแฟร้อน", 1),
    ],
)
def test_terms_are_found_in_scripts_without_spaces(term: str, text: str, found: int) -> None:
    findings = check(text, Voice(banned_terms=(term,)))
    assert [finding.found for finding in findings if finding.rule == "banned_term"] == [term] * found


def test_spellings_of_the_other_variant_are_reported() -> None:
    text = "The colour of the center is organised. COLOR, Colour, program, license, story."
    assert rules(text, Voice(spelling="en-US")) == [
        ("spelling", "colour"), ("spelling", "organised"), ("spelling", "Colour"),
    ]  # fmt: skip
    assert rules(text, Voice(spelling="en-GB")) == [("spelling", "center"), ("spelling", "COLOR")]
    assert rules(text, Voice(spelling="en-GB"), "de") == []
    assert [finding.fix for finding in check("COLOR Center", Voice(spelling="en-GB"))] == [
        "Write “COLOUR”.",
        "Write “Centre”.",
    ]


def test_no_word_is_misspelt_in_both_variants() -> None:
    british, american = other_spellings("en-GB"), other_spellings("en-US")
    assert len(british) > 500
    assert not british.keys() & american.keys()


def test_long_sentences_and_hard_texts_are_reported() -> None:
    easy = "The cat sat. " * 30
    assert rules(easy, Voice()) == []
    long = " ".join(["word"] * 31) + ". Short one.\n"
    [finding] = check(long, Voice())
    assert (finding.rule, finding.severity, finding.position) == ("sentence_length", "warning", 0)
    hard = "Institutional characteristics necessitate considerable organisational sophistication. " * 10
    assert [finding.rule for finding in check(hard, Voice())] == ["reading_ease"]
    assert check(hard, Voice(), "fi") == []


@pytest.mark.parametrize(
    ("word", "count"), [("cat", 1), ("table", 2), ("make", 1), ("wanted", 2), ("organise", 3), ("queue", 1), ("x", 1)]
)
def test_syllables_are_counted(word: str, count: int) -> None:
    assert syllables_of(word, "en") == count


@given(
    st.text(max_size=300),
    st.lists(st.text(min_size=1, max_size=10), max_size=4),
    st.sampled_from(["", "en", "de", "th"]),
)
def test_any_text_can_be_checked(text: str, terms: list[str], language: str) -> None:
    voice = Voice(banned_terms=tuple(terms), glossary=dict.fromkeys(terms, "a, b"), spelling="en-US")
    for finding in check(text, voice, language):
        if finding.position is not None:
            assert text[finding.position : finding.position + 1] == finding.found[:1] or not finding.found.strip()
            assert finding.line == text.count("\n", 0, finding.position) + 1
