"""A version of an article has one score: in every tool and on every page, under all circumstances."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from support.people import BrowserWithoutScreen
from support.tool_client import ToolClient

from .conftest import wait_until_live
from .test_articles import BODY, PARTS

ARTICLES = "/dashboard/articles"
FIELDS: Mapping[str, Any] = {
    "title": "Honey bees",
    "body": f"{BODY}\n\n```\nfly(bee, flower)\n```\n\n[Wax](/wax) and [hives](https://example.org/hives).",
    "keyphrase": "honey bees",
    "synonyms": ["apis"],
    "meta_description": "Bees.",
    "author": "A",
    "canonical_url": "https://example.org/original",
}
"""Fields that only some tools might consider: a slug made from the title, code, an author, links, a canonical URL."""


@pytest.fixture
def browser(ada: ToolClient) -> Iterator[BrowserWithoutScreen]:
    """Return ada's browser."""
    with BrowserWithoutScreen(ada.host) as fresh:
        fresh.enter(ada.host, ada.host.run(ada.host.host.accounts.users.get(ada.user_id)))
        yield fresh


def everywhere(client: ToolClient, browser: BrowserWithoutScreen, content_id: str) -> dict[str, tuple[int, int]]:
    """Return the score and word count of a stored article, as each tool and each page shows them."""
    scores: dict[str, tuple[int, int]] = {}
    # The list and the pages come first: they must be up to date without a check.
    item = next(item for item in client.data("list_content")["items"] if item["content_id"] == content_id)
    scores["list_content"] = item["score"], item["word_count"]
    content = client.data("get_content", content_id=content_id)["content"]
    scores["get_content"] = content["score"], content["word_count"]
    row = next(row for row in browser.get(ARTICLES).tree.css("tr") if f"{ARTICLES}/{content_id}" in (row.html or ""))
    badge = row.css_first(".score")
    assert badge is not None
    score = int(re.findall(r"Score (\d+) of 100", " ".join(badge.text().split()))[0])
    scores["list page"] = score, item["word_count"]
    panel = browser.get(f"{ARTICLES}/{content_id}/seo")
    words = int(re.findall(r"(\d+) words", panel.text.replace(",", ""))[0])
    scores["SEO panel"] = int(panel.one(".dial")), words
    for name, include in (("check_blog_seo", []), ("with every part", list(PARTS))):
        report = client.data("check_blog_seo", content_id=content_id, include=include)
        scores[name] = report["score"], report["words"]
    return scores


def _same(scores: Mapping[str, tuple[int, int]], expected: tuple[int, int]) -> bool:
    assert dict(scores) == dict.fromkeys(scores, expected)
    return True


@pytest.mark.parametrize("with_website", [True, False])
def test_a_version_has_one_score_everywhere_and_always(
    ada: ToolClient, browser: BrowserWithoutScreen, with_website: bool
) -> None:
    website = ada.data("connect_website", platform="builtin", name="Scores of hives")["website_id"]
    website_arguments: dict[str, Any] = {"website_id": website} if with_website else {}
    unsaved = ada.data("check_blog_seo", article={**FIELDS, **website_arguments})
    article = ada.data("create_content", **FIELDS, **website_arguments, client_request_id="one")
    content_id, expected = article["content_id"], (article["seo"]["score"], article["word_count"])
    repeated = ada.data("create_content", **FIELDS, **website_arguments, client_request_id="one")

    assert (unsaved["score"], unsaved["words"]) == expected
    assert (repeated["seo"]["score"], repeated["word_count"]) == expected
    assert _same(everywhere(ada, browser, content_id), expected)

    # Another article with the same title, description and keyphrase.
    ada.data("create_content", **{**FIELDS, **website_arguments, "body": "Other words.", "slug": "others"})
    assert _same(everywhere(ada, browser, content_id), expected)

    # It goes live, with a URL, dates, a Markdown twin and an entry in llms.txt.
    ada.data("publish_content", content_id=content_id, website_id=website)
    wait_until_live(ada, content_id)
    assert _same(everywhere(ada, browser, content_id), expected)
    checks = {check["id"]: check for check in ada.data("check_blog_seo", content_id=content_id)["checks"]}
    assert (checks["keyphrase_unique"]["status"], checks["keyphrase_unique"]["weight"]) == ("ok", 0)
    assert (checks["title_unique"]["status"], checks["title_unique"]["weight"]) == ("bad", 0)
    assert checks["markdown_twin"]["status"] == "good"

    # A new version that differs only in fields without influence on the score: the same score, and a delta of 0.
    changed = ada.data("update_content", content_id=content_id, expected_version=1, fields={"tags": ["bees"]})
    assert (changed["seo"]["score"], changed["seo"]["delta"]) == (expected[0], 0)
    assert _same(everywhere(ada, browser, content_id), expected)


def test_trying_another_keyphrase_does_not_change_the_score_of_the_version(
    ada: ToolClient, browser: BrowserWithoutScreen
) -> None:
    article = ada.data("create_content", **FIELDS)
    tried = [
        ada.data("check_blog_seo", content_id=article["content_id"], **arguments)["score"]
        for arguments in ({"keyphrase": "wasps"}, {"profile": "product"}, {"checks": ["title_present"]})
    ]
    assert tried[0] < article["seo"]["score"] < tried[2]
    assert _same(everywhere(ada, browser, article["content_id"]), (article["seo"]["score"], article["word_count"]))
