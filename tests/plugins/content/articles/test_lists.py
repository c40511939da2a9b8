"""Article lists and searches."""

from __future__ import annotations

import pytest
from support.content_client import Client

from .conftest import Make, publish


def titles(client: Client, **arguments: object) -> list[str]:
    return [item["title"] for item in client.data("list_content", **arguments)["items"]]


def test_the_most_recently_changed_article_is_first(ada: Client, make: Make) -> None:
    first = make("One")
    make("Two")
    ada.data("update_content", content_id=first, expected_version=1, fields={"excerpt": "x"})
    assert titles(ada) == ["One", "Two"]


def test_a_search_finds_every_form_of_a_word(ada: Client, make: Make) -> None:
    make("Publishing for beginners", "How texts are written.")
    make("Gardens", "She published a book about gardening.")
    make("Cars", "Nothing to see.")
    assert titles(ada, query="publish") == ["Publishing for beginners", "Gardens"]
    assert titles(ada, query="published gardens") == ["Gardens"]
    assert titles(ada, query="bicycle") == []


@pytest.mark.parametrize(
    ("language", "title", "body", "query"),
    [
        ("de", "Häuser", "Die Häuser der Stadt.", "Haus der Städte"),
        ("fr", "Chevaux", "Nous aimons les chevaux rapides.", "cheval rapide"),
        ("ja", "お茶", "日本語の文章です。", "文章"),
        ("th", "ชา", "ภาษาไทยง่ายนิดเดียว", "ภาษา"),
        ("ru", "Книги", "Он читает хорошие книги.", "хорошая книга"),
    ],
)
def test_a_search_works_in_other_languages(
    ada: Client, make: Make, language: str, title: str, body: str, query: str
) -> None:
    make("English", "Other words.")
    make(title, body, language=language)
    if language != "fr":  # French has plurals that light stemmers do not conflate
        assert titles(ada, query=query) == [title]
    assert titles(ada, query=title) == [title]


@pytest.mark.parametrize("query", ["istanbul", "İSTANBUL", "I\u0307stanbul", "ISTANBUL", "IŞIK", "\u0131ş\u0131k"])
def test_a_search_with_turkish_letters(ada: Client, make: Make, query: str) -> None:
    make("English", "Other words.")
    make("İstanbul", "I\u015f\u0131k.", language="tr")
    assert titles(ada, query=query) == ["İstanbul"]


@pytest.mark.parametrize(
    ("language", "text", "queries"),
    [
        ("en", "Résumés at the café", ("resume", "RÉSUMÉ", "cafe", "cafe\u0301s", "cafes")),
        ("fr", "Un élève préféré", ("eleve", "élèves", "prefere")),
        ("de", "Schöne Grüße", ("schone", "schöne", "GRÜSSE", "grusse")),
        ("el", "Καφές στην Αθήνα", ("αθηνα", "ΑΘΗΝΑ", "Αθήνα")),
        ("vi", "Bánh mì Đà Nẵng", ("banh", "da nang")),
    ],
)
def test_a_search_finds_words_without_their_accents(
    ada: Client, make: Make, language: str, text: str, queries: tuple[str, ...]
) -> None:
    make("English", "Other words.")
    make("Found", text, language=language)
    assert [titles(ada, query=query) for query in queries] == [["Found"]] * len(queries)


def test_a_search_distinguishes_letters_of_other_scripts(ada: Client, make: Make) -> None:
    make("Bus", "バス", language="ja")
    make("Pass", "パス", language="ja")
    assert titles(ada, query="バス") == ["Bus"]


def test_a_search_for_common_words_matches_titles(ada: Client, make: Make) -> None:
    make("To be or not to be", "A play.")
    make("Other", "To be or not to be.")
    make("Über uns", "Wir backen Brot.", language="de")
    assert titles(ada, query="to be or") == ["To be or not to be"]
    assert titles(ada, query="ÜBER") == ["Über uns"]
    assert titles(ada, query="100%") == []


@pytest.mark.parametrize(
    ("tag", "others"),
    [
        ("İstanbul", ("istanbul", "ISTANBUL", "İSTANBUL", "I\u0307stanbul", "\u0131stanbul")),
        ("Café", ("cafe", "CAFÉ", "cafe\u0301", "CAFE")),
        ("Ångström", ("angstrom", "ÅNGSTRÖM")),
        ("Müller-Straße", ("muller-strasse", "MÜLLER-STRASSE")),
    ],
)
def test_a_tag_is_found_without_its_case_and_accents(
    ada: Client, make: Make, tag: str, others: tuple[str, ...]
) -> None:
    make("Other", tags=["Tea"])
    make("Found", tags=["Tea", tag])
    assert [titles(ada, tag=other) for other in (tag, *others)] == [["Found"]] * (1 + len(others))
    assert titles(ada, tag=tag[:-1]) == []


def test_tags_of_other_scripts_are_distinguished(ada: Client, make: Make) -> None:
    make("Bus", tags=["バス"])
    make("Pass", tags=["パス"])
    assert titles(ada, tag="バス") == ["Bus"]


def test_filters(ada: Client, make: Make, website: str) -> None:
    make("Tea", tags=["Drinks", "Größe"], website_id=website)
    make("Book")
    assert titles(ada, tag="drinks") == ["Tea"]
    assert titles(ada, tag="GRÖßE") == ["Tea"]
    assert titles(ada, tag="rink") == []
    assert titles(ada, tag='"%_') == []
    assert titles(ada, website_id=website) == ["Tea"]
    assert titles(ada, status="published") == []
    assert titles(ada, updated_since="2020-01-01") == ["Book", "Tea"]
    assert titles(ada, updated_since="2999-01-01") == []
    for since in ("yesterday!", "yesterday", "2026-11-21T10:00:00Z", "2026-1-1", ""):
        assert "must be a day such as 2026-11-21" in ada.refusal("list_content", updated_since=since)


@pytest.mark.parametrize("name", ["Tea shop", f"w_{'0' * 22}"])
def test_an_unknown_filter_value_is_an_error(ada: Client, make: Make, name: str) -> None:
    for tool in ("list_content", "list_publications", "list_content_ideas", "export_content"):
        assert f"no website '{name}'" in ada.refusal(tool, website_id=name)
    assert f"no article '{name}'" in ada.refusal("list_publications", content_id=name)
    listed = ada.call("list_publications", content_id=make("Tea"), status="failed")
    assert listed["content"][0]["text"] == "No publications match."


def test_paging_is_stable_while_articles_are_created(ada: Client, make: Make) -> None:
    for number in range(7):
        make(f"Tea {number}")
    titles: list[str] = []
    cursor = None
    while True:
        page = ada.data("list_content", limit=3, query="tea", **({"cursor": cursor} if cursor else {}))
        titles += [item["title"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        make(f"Tea new {len(titles)}")
    assert titles == [f"Tea {number}" for number in reversed(range(7))]


@pytest.mark.parametrize("cursor", ["x", "????", "MC4xLmE", "é", "LTk5LjEuYQ"])
def test_an_invalid_cursor_does_not_crash(ada: Client, cursor: str) -> None:
    result = ada.call("list_content", cursor=cursor)
    if result.get("isError"):
        assert "cursor" in result["content"][0]["text"]


def test_a_published_article_lists_its_url(ada: Client, make: Make, website: str) -> None:
    id_ = make("Tea", website_id=website)
    url = publish(ada, id_, website)
    [item] = ada.data("list_content", status="published")["items"]
    assert (item["content_id"], item["urls"]) == (id_, [url])
