"""Links between an account's own articles, and near-duplicate articles."""

from __future__ import annotations

import pytest
from pressroom.sdk import NotFound
from pressroom_content.services import services_of
from support.content_client import Client

from .conftest import Make, publish

BODY = """# Green tea at home

Everybody can make green tea at home. `green tea leaves` are code, and [green tea leaves](https://x.example) a link.
So are <a href="https://shop.example" rel="sponsored">good green tea leaves</a>.

## Green tea leaves

Buy good green tea leaves, and warm the tea pot before.

    green tea leaves as code
"""


@pytest.fixture
def published(ada: Client, make: Make, website: str) -> dict[str, str]:
    """Return the URLs of two published articles by short title."""
    leaves = make("How to choose green tea leaves", "Leaves of green tea differ. " * 5, website_id=website)
    pots = make("Tea pots", "A tea pot is made of iron or clay. " * 5, keyphrase="tea pot", website_id=website)
    make("Green tea leaves that nobody sees", "Leaves of green tea.", website_id=website)
    return {"leaves": publish(ada, leaves, website), "pots": publish(ada, pots, website)}


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_links_are_suggested_only_where_a_link_is_allowed(
    ada: Client, make: Make, published: dict[str, str], form: str
) -> None:
    body = BODY
    if form == "html":
        body = (
            "<h2>Green tea leaves</h2><p>Everybody <a href='/x'>green tea leaves</a> <code>green tea leaves</code> can "
            "buy good green tea leaves, and warm the <b>tea pot</b> before.</p>"
        )
    id_ = make("Green tea at home", body, body_format=form)
    result = ada.data("suggest_internal_links", content_id=id_)
    by_url = {suggestion["target_url"]: suggestion for suggestion in result["suggestions"]}
    assert set(by_url) == set(published.values())
    leaves = by_url[published["leaves"]]
    assert leaves["anchor_text"] == "green tea leaves"
    assert leaves["position"] == body.index("green tea leaves, and")
    pots = by_url[published["pots"]]
    assert (pots["anchor_text"], pots["reason"]) == ("tea pot", "the keyphrase of “Tea pots”")
    links = [
        {name: suggestion[name] for name in ("target_url", "anchor_text", "position")}
        for suggestion in result["suggestions"]
    ]
    applied = ada.data("apply_internal_links", content_id=id_, expected_version=1, links=links)
    assert (applied["version"], applied["applied"]) == (2, 2)
    stored = ada.data("get_content", content_id=id_, format=form)["body"]
    link = f"[tea pot]({published['pots']})" if form == "markdown" else f'<a href="{published["pots"]}">tea pot</a>'
    assert link in stored
    assert ada.data("suggest_internal_links", content_id=id_)["suggestions"] == []


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ({"target_url": "javascript:x", "anchor_text": "Buy", "position": 187}, "links.0.target_url"),
        ({"target_url": "//evil.example", "anchor_text": "Buy", "position": 187}, "links.0.target_url"),
        ({"target_url": "/x", "anchor_text": "Buy", "position": 0}, "links.0.position"),
        ({"target_url": "/x", "anchor_text": "Green tea", "position": 2}, "links.0.anchor_text: is inside"),
    ],
)
def test_invalid_links_are_refused(ada: Client, make: Make, link: dict[str, object], problem: str) -> None:
    id_ = make("Green tea at home", BODY)
    good = {"target_url": "/ok", "anchor_text": "Everybody", "position": BODY.index("Everybody")}
    arguments = {"content_id": id_, "expected_version": 1}
    assert problem in ada.refusal("apply_internal_links", **arguments, links=[link, good])
    assert "expected_version" in ada.refusal("apply_internal_links", content_id=id_, expected_version=7, links=[good])
    twice = [good, {**good, "anchor_text": "Everybody can"}]
    assert "overlaps another" in ada.refusal("apply_internal_links", **arguments, links=twice)
    assert ada.data("get_content", content_id=id_)["body"] == BODY
    assert ada.data("apply_internal_links", **arguments, links=[good])["version"] == 2


def test_near_duplicates_and_shared_keyphrases_are_reported(ada: Client, eve: Client, make: Make) -> None:
    text = " ".join(f"word{number}" for number in range(300))
    article = make("One", text, keyphrase="Green tea")
    similar = make("Almost", text.replace("word150", "another"))
    make("Other", " ".join(f"thing{number}" for number in range(300)))
    phrase = make("Phrase", "Something else altogether.", keyphrase="green tea")
    trashed = make("Trashed", text)
    ada.data("delete_content", content_id=trashed, confirm=True)
    eve.data("create_content", title="Mine", body=text)
    checker = services_of(ada.plugin).text_checks
    first, second = ada.host.run(checker.duplicates(ada.user_id, article))
    assert (first.content_id, first.exact) == (similar, True)
    assert 0.95 < first.similarity < 1
    assert first.shared[0].startswith("word")
    assert (second.content_id, second.similarity) == (phrase, 0)
    assert second.shared == ("keyphrase: Green tea",)
    assert ada.host.run(checker.duplicates(ada.user_id, make("Empty", ""))) == []
    with pytest.raises(NotFound):
        ada.host.run(checker.duplicates(eve.user_id, article))
