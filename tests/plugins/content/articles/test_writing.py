"""Writing articles: what is stored, what is refused, and concurrent writes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support.content_client import Client

BODY = "# Tea\n\nBoil the **water** first.\n\nThen wait.\n"


def create(client: Client, **fields: Any) -> dict[str, Any]:
    return client.data("create_content", **{"title": "Good tea", "body": BODY, **fields})


def test_an_article_is_created_and_read(ada: Client) -> None:
    article = create(ada, keyphrase="good tea", tags=["Drinks", "drinks", " Tea "], language="en_GB", meta_title="Tea!")
    assert article["slug"] == "good-tea"
    assert article["version"] == 1
    assert article["word_count"] == 7
    assert article["preview_url"] == f"{ada.host.url}/dashboard/articles/{article['content_id']}"
    page = ada.data("get_content", content_id=article["content_id"])
    assert page["body"] == BODY
    assert page["next_offset"] is None
    content = page["content"]
    assert content["tags"] == ["Drinks", "drinks", "Tea"]
    assert content["language"] == "en-GB"
    assert (content["status"], content["score"], content["meta_title"]) == ("draft", None, "Tea!")


def test_the_body_is_returned_in_every_format(ada: Client) -> None:
    id_ = create(ada, body="# Tea\n\nBoil <b onclick=x>it</b>.<script>alert(1)</script>\n")["content_id"]
    forms = {form: ada.data("get_content", content_id=id_, format=form)["body"] for form in ("html", "text")}
    assert forms["html"] == "<h1>Tea</h1>\n<p>Boil <b>it</b>.</p>\n"
    assert forms["text"] == "Tea\n\nBoil it."
    html = create(ada, body="<h1>Tea</h1><p>Boil <em>it</em>.</p>", body_format="html")["content_id"]
    assert ada.data("get_content", content_id=html)["body"] == "# Tea\n\nBoil *it*.\n"
    assert ada.data("get_content", content_id=html, format="html")["body"] == "<h1>Tea</h1><p>Boil <em>it</em>.</p>"


def test_repeating_a_request_creates_one_article(ada: Client, eve: Client) -> None:
    article = create(ada, client_request_id="r1")
    assert create(ada, client_request_id="r1") == article
    refused = ada.refusal("create_content", title="Another title", body=BODY, client_request_id="r1")
    assert "with other values of title. Nothing was done. Choose another client_request_id" in refused
    assert "use update_content to change what that call made" in refused
    assert article["content_id"] in refused
    assert [item["title"] for item in ada.data("list_content")["items"]] == ["Good tea"]
    assert create(eve, client_request_id="r1")["content_id"] != article["content_id"]


def test_concurrent_repeats_of_a_request_create_one_article(ada: Client) -> None:
    with ThreadPoolExecutor(6) as pool:
        ids = list(pool.map(lambda _: create(ada, client_request_id="same")["content_id"], range(6)))
    assert len(set(ids)) == 1
    assert len(ada.data("list_content")["items"]) == 1


def test_concurrent_articles_with_the_same_title_get_different_slugs(ada: Client) -> None:
    with ThreadPoolExecutor(6) as pool:
        slugs = list(pool.map(lambda _: create(ada)["slug"], range(6)))
    assert sorted(slugs) == ["good-tea", *(f"good-tea-{number}" for number in range(2, 7))]


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Über Straßen", "uber-strassen"),
        ("今天天气很好", "今天天气很好"),
        ("Как дела, мир?", "как-дела-мир"),
        ("हिन्दी में", "हिन्दी-में"),
        ("🎉", "article"),
    ],
)
def test_slugs_are_created_in_any_script(ada: Client, title: str, slug: str) -> None:
    assert create(ada, title=title)["slug"] == slug


@pytest.mark.parametrize(
    ("language", "slug"), [("de-CH", "muessige-gruesse"), ("es", "mussige-grusse"), ("", "mussige-grusse")]
)
def test_slugs_follow_the_language(ada: Client, language: str, slug: str) -> None:
    assert create(ada, title="Müßige Grüße", language=language)["slug"] == slug


def test_slugs_follow_the_language_of_the_website(ada: Client) -> None:
    website = ada.data("connect_website", platform="builtin", name="Grüße")["website_id"]
    ada.data("update_website_settings", website_id=website, settings={"language": "de"})
    assert create(ada, title="Grüße", website_id=website)["slug"] == "gruesse"


def test_a_change_creates_a_version(ada: Client) -> None:
    id_ = create(ada)["content_id"]
    updated = ada.data(
        "update_content",
        content_id=id_,
        expected_version=1,
        fields={"keyphrase": "tea", "title": "Good tea"},
        edits=[{"find": "Then wait.", "replace": "Then *wait*."}],
    )
    assert (updated["version"], updated["changed"]) == (2, ["body", "keyphrase"])
    assert "Then *wait*." in ada.data("get_content", content_id=id_)["body"]
    assert "Then wait." in ada.data("get_content", content_id=id_, version=1)["body"]


def test_a_change_without_effect_creates_no_version(ada: Client) -> None:
    id_ = create(ada)["content_id"]
    updated = ada.data("update_content", content_id=id_, expected_version=1, fields={"title": "Good tea"})
    assert (updated["version"], updated["changed"]) == (1, [])


def test_an_old_version_is_refused_and_the_message_says_what_to_do(ada: Client) -> None:
    id_ = create(ada)["content_id"]
    change = {"content_id": id_, "expected_version": 1}
    ada.data("update_content", **change, fields={"title": "Better tea"})
    text = ada.refusal("update_content", **change, fields={"title": "Other tea"})
    assert "now at version 2, not 1" in text
    assert "get_content" in text
    repeated = ada.data("update_content", **change, fields={"title": "Better tea"})
    assert (repeated["version"], repeated["changed"]) == (2, ["title"])
    text = ada.refusal("update_content", content_id=id_, expected_version=7, fields={"title": "Later tea"})
    assert "has no version 7: the newest is 2" in text
    assert "somebody changed it" not in text
    assert ada.data("get_content", content_id=id_)["content"]["title"] == "Better tea"


def test_of_several_concurrent_changes_one_is_written(ada: Client) -> None:
    id_ = create(ada)["content_id"]

    def change(number: int) -> bool:
        result = ada.call("update_content", content_id=id_, expected_version=1, fields={"title": f"Tea {number}"})
        return not result.get("isError")

    with ThreadPoolExecutor(5) as pool:
        assert sum(pool.map(change, range(5))) == 1
    assert ada.data("get_content", content_id=id_)["content"]["version"] == 2


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        ({"find": "milk", "replace": ""}, "edits.0.find: is not in the body"),
        ({"find": "then wait", "replace": ""}, "its case differs"),
        ({"find": "t", "replace": ""}, "in the lines 3, 3, 3, 5"),
        ({"find": "water", "replace": "", "occurrence": 2}, "edits.0.occurrence: must be at most 1"),
    ],
)
def test_invalid_edits_are_refused(ada: Client, edit: dict[str, Any], problem: str) -> None:
    id_ = create(ada)["content_id"]
    assert problem in ada.refusal("update_content", content_id=id_, expected_version=1, edits=[edit])
    assert ada.data("get_content", content_id=id_)["body"] == BODY


def test_edits_select_their_occurrences(ada: Client) -> None:
    id_ = create(ada, body="a b a b a")["content_id"]
    edits = [{"find": "a", "replace": "X", "occurrence": 2}, {"find": "b", "replace": "Y", "all": True}]
    ada.data("update_content", content_id=id_, expected_version=1, edits=edits)
    assert ada.data("get_content", content_id=id_)["body"] == "a Y X Y a"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"title": "  "}, "title: must not be empty"),
        ({"slug": "!!!"}, "slug: must contain letters or digits"),
        ({"language": "English!"}, "language: must be a language tag"),
        ({"canonical_url": "javascript:alert(1)"}, "canonical_url: must be a full URL"),
        ({"website_id": "w_nobodys"}, "no website"),
        ({"body": "x" * 2_097_153}, "2,097,153 bytes"),
        ({"body": "<div>" * 20_000, "body_format": "html"}, "tags are open"),
        ({"body": "[" * 50_000}, "tens of thousands of brackets"),
        ({"body": "> " * 200 + "x"}, "nested more than"),
    ],
)
def test_invalid_content_is_refused(ada: Client, fields: dict[str, Any], problem: str) -> None:
    text = ada.refusal("create_content", **{"title": "Tea", "body": BODY, **fields})
    assert problem in text
    assert ada.data("list_content")["items"] == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"title": "  "}, "fields.title: must not be empty"),
        ({"slug": "!!!"}, "fields.slug: must contain letters or digits"),
        ({"slug": "coffee"}, "fields.slug: coffee is taken"),
        ({"language": "English!"}, "fields.language: must be a language tag"),
        ({"canonical_url": "javascript:alert(1)"}, "fields.canonical_url: must be a full URL"),
        ({"body": "x" * 2_097_153}, "fields.body: has 2,097,153 bytes"),
        ({"body": "> " * 200 + "x"}, "fields.body: lists and quotes are nested"),
        ({"body_format": "html"}, "fields.body_format: needs fields.body"),
    ],
)
def test_an_invalid_change_names_the_parameter(ada: Client, fields: dict[str, Any], problem: str) -> None:
    create(ada, title="Coffee")
    id_ = create(ada)["content_id"]
    assert problem in ada.refusal("update_content", content_id=id_, expected_version=1, fields=fields)
    assert ada.data("get_content", content_id=id_)["content"]["version"] == 1


def test_an_article_of_two_megabytes_is_stored_and_read_in_parts(ada: Client) -> None:
    paragraph = "Tea is a drink that people like, and *some* of them drink it every day.\n\n"
    body = paragraph * (2_000_000 // len(paragraph))
    id_ = create(ada, body=body)["content_id"]
    text = ""
    offset: int | None = 0
    while offset is not None:
        page = ada.data("get_content", content_id=id_, offset=offset, max_chars=100_000)
        assert page["body"].endswith("\n\n") or page["next_offset"] is None
        text, offset = text + page["body"], page["next_offset"]
    assert text == body


def test_a_taken_slug_is_refused_with_a_free_one(ada: Client) -> None:
    first = create(ada)["content_id"]
    second = create(ada, title="Coffee")["content_id"]
    text = ada.refusal("update_content", content_id=second, expected_version=1, fields={"slug": "Good Tea"})
    assert f"good-tea is taken by the article {first}; good-tea-2 is free" in text


def test_articles_of_other_accounts_are_not_found(ada: Client, eve: Client) -> None:
    id_ = create(ada)["content_id"]
    for name, arguments in {
        "get_content": {},
        "update_content": {"expected_version": 1, "fields": {"title": "Mine"}},
    }.items():
        assert "this account has no article" in eve.refusal(name, content_id=id_, **arguments)
    assert eve.data("list_content")["items"] == []


def test_invisible_characters_are_preserved(ada: Client) -> None:
    id_ = create(ada, title="Odd\u202e\u0007 title", body="\u2028\u0001 x")["content_id"]
    assert ada.data("get_content", content_id=id_)["body"] == "\u2028\u0001 x"


def test_the_text_of_a_result_names_the_fields(ada: Client) -> None:
    fields = {"keyphrase": "green tea", "meta_title": "Tea!", "meta_description": "Of tea.", "tags": ["tea", "leaves"]}
    id_ = create(ada, **fields)["content_id"]
    text = ada.call("get_content", content_id=id_)["content"][0]["text"]
    for line in ("keyphrase: green tea", "meta_title: Tea!", "meta_description: Of tea.", "tags: tea, leaves"):
        assert f"\n{line}\n" in text
    assert "\nempty: website_id, language, synonyms, excerpt, categories, author, canonical_url, " in text
