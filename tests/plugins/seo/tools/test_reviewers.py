"""Parts of an article check that other plugins contribute."""

from __future__ import annotations

from pathlib import Path

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.contract import ArticleReview, ArticleReviewer
from support.installing import install, on_path
from support.tool_client import client_of

SOURCE = """
from pressroom.sdk import InvalidInput, Plugin, hookimpl
from pressroom_content.contract import ArticleReview, ArticleReviewer

PLUGIN = Plugin(id="shouting", title="Shouting", summary="Counts capitals.", requires=("content",))


async def shouting(article):
    if not article.body:
        raise InvalidInput("content_id", "has no text; write one with update_content")
    capitals = sum(one.isupper() for one in article.body)
    lines = (f"{capitals} capitals; write some in lower case",) if capitals else ()
    return ArticleReview({"capitals": capitals}, lines)


async def broken(article):
    raise RuntimeError("of another plugin")


@hookimpl
def pressroom_article_reviewers():
    names = {"shouting": shouting, "broken": broken}
    return [ArticleReviewer(name, review) for name, review in names.items()]
"""


def test_a_plugin_adds_a_part_and_its_failures_do_not_lose_the_rest(tmp_path: Path) -> None:
    install(tmp_path / "site", "pressroom-shouting", {"shouting_plugin.py": SOURCE}, {"shouting": "shouting_plugin"})
    config = {"builtin_plugins": False, "plugins": {"content": {}, "seo": {}, "shouting": {}}}
    with (
        on_path(tmp_path / "site"),
        RunningHost(settings_for_test(config, tmp_path / "data")) as host,
    ):
        ada = client_of(host, "ada@example.com")
        loud = ada.data("create_content", title="Loud", body="A LOUD text.")["content_id"]
        quiet = ada.data("create_content", title="Quiet", body="a quiet text.")["content_id"]
        empty = ada.data("create_content", title="Empty", body="")["content_id"]

        result = ada.call("check_blog_seo", content_id=loud, include=["shouting", "broken", "snippet"])

        report, text = result["structuredContent"], result["content"][0]["text"]
        assert report["shouting"] == {"capitals": 5}
        assert report["snippet"]["desktop"]["title"]["text"] == "Loud"
        assert "Shouting:\n- 5 capitals; write some in lower case" in text
        assert "Broken: not checked, because of an internal error." in text
        calm = ada.call("check_blog_seo", content_id=quiet, include=["shouting"])
        assert "Shouting: nothing to fix." in calm["content"][0]["text"]
        assert "update_content" in ada.refusal("check_blog_seo", content_id=empty, include=["shouting"])
        assert "create_content" in ada.refusal("check_blog_seo", article={"body": "x"}, include=["shouting"])
        # Without the images plugin there is no image review; no part can replace the score.
        for name in ("images", "score"):
            assert "include.0" in ada.refusal("check_blog_seo", content_id=loud, include=[name])


def test_a_name_that_cannot_be_a_value_is_refused() -> None:
    async def review(_article: object) -> ArticleReview:
        return ArticleReview()

    with pytest.raises(ValueError, match="lower-case letters"):
        ArticleReviewer("Not a name", review)
