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
    seen: dict[str, tuple[int, int]] = {}
    # The list and the pages come first: they must be up to date without a check.
    item = next(one for one in client.data("list_content")["items"] if one["content_id"] == content_id)
    seen["list_content"] = item["score"], item["word_count"]
    content = client.data("get_content", content_id=content_id)["content"]
    seen["get_content"] = content["score"], content["word_count"]
    row = next(one for one in browser.get(ARTICLES).tree.css("tr") if f"{ARTICLES}/{content_id}" in (one.html or ""))
    shown = row.css_first(".score")
    assert shown is not None
    score = int(re.findall(r"Score (\d+) of 100", " ".join(shown.text().split()))[0])
    seen["list page"] = score, item["word_count"]
    panel = browser.get(f"{ARTICLES}/{content_id}/seo")
    words = int(re.findall(r"(\d+) words", panel.text.replace(",", ""))[0])
    seen["SEO panel"] = int(panel.one(".dial")), words
    for name, include in (("check_blog_seo", []), ("with every part", list(PARTS))):
        report = client.data("check_blog_seo", content_id=content_id, include=include)
        seen[name] = report["score"], report["words"]
    return seen


def _same(seen: Mapping[str, tuple[int, int]], wanted: tuple[int, int]) -> bool:
    assert dict(seen) == dict.fromkeys(seen, wanted)
    return True


@pytest.mark.parametrize("with_website", [True, False])
def test_a_version_has_one_score_everywhere_and_always(
    ada: ToolClient, browser: BrowserWithoutScreen, with_website: bool
) -> None:
    website = ada.data("connect_website", platform="builtin", name="Scores of hives")["website_id"]
    meant: dict[str, Any] = {"website_id": website} if with_website else {}
    unsaved = ada.data("check_blog_seo", article={**FIELDS, **meant})
    made = ada.data("create_content", **FIELDS, **meant, client_request_id="one")
    content_id, wanted = made["content_id"], (made["seo"]["score"], made["word_count"])
    again = ada.data("create_content", **FIELDS, **meant, client_request_id="one")

    assert (unsaved["score"], unsaved["words"]) == wanted
    assert (again["seo"]["score"], again["word_count"]) == wanted
    assert _same(everywhere(ada, browser, content_id), wanted)

    # Another article with the same title, description and keyphrase.
    ada.data("create_content", **{**FIELDS, **meant, "body": "Other words.", "slug": "others"})
    assert _same(everywhere(ada, browser, content_id), wanted)

    # It goes live, with a URL, dates, a Markdown twin and an entry in llms.txt.
    ada.data("publish_content", content_id=content_id, website_id=website)
    wait_until_live(ada, content_id)
    assert _same(everywhere(ada, browser, content_id), wanted)
    around = {one["id"]: one for one in ada.data("check_blog_seo", content_id=content_id)["checks"]}
    assert (around["keyphrase_unique"]["status"], around["keyphrase_unique"]["weight"]) == ("ok", 0)
    assert (around["title_unique"]["status"], around["title_unique"]["weight"]) == ("bad", 0)
    assert around["markdown_twin"]["status"] == "good"

    # A new version that differs only in fields without influence on the score: the same score, and a delta of 0.
    changed = ada.data("update_content", content_id=content_id, expected_version=1, fields={"tags": ["bees"]})
    assert (changed["seo"]["score"], changed["seo"]["delta"]) == (wanted[0], 0)
    assert _same(everywhere(ada, browser, content_id), wanted)


def test_trying_another_keyphrase_leaves_the_score_of_the_version_alone(
    ada: ToolClient, browser: BrowserWithoutScreen
) -> None:
    made = ada.data("create_content", **FIELDS)
    tried = [
        ada.data("check_blog_seo", content_id=made["content_id"], **arguments)["score"]
        for arguments in ({"keyphrase": "wasps"}, {"profile": "product"}, {"checks": ["title_present"]})
    ]
    assert tried[0] < made["seo"]["score"] < tried[2]
    assert _same(everywhere(ada, browser, made["content_id"]), (made["seo"]["score"], made["word_count"]))
