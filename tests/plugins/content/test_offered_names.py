"""The operator chooses among plugins that offer the same service; unusable names are refused or reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pressroom.cli.diagnosis import diagnose
from pressroom.gate.plugin_gate import Reason
from pressroom.host.loaded_app import LoadedApp
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.articles import analysis
from pressroom_content.contract import ArticleReview, ArticleReviewer
from pressroom_seo.tools.article_report import SeoReportOut
from support.content_client import client_of
from support.installing import on_path
from support.plugin_source import HEAD, install_plugin

PLUGIN = (
    HEAD
    + """
import os, signal, time
from pressroom_content.contract import *

PLUGIN = Plugin(id="$id", title="$id", summary="For tests.", requires=("content",))


def eleven(article):
    match article.title:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise":
            raise ZeroDivisionError("no way")
        case "hang":
            time.sleep(600)
        case "number":
            return 7
    return Score(11, ("write more",), 5)


@hookimpl
def pressroom_article_scorers():
    return [ArticleScorer("$id_scorer", eleven)]


async def search(plugin, query):
    return ImagePage(())


@hookimpl
def pressroom_image_sources():
    return [ImageSource("$id-images", "$id", search, search)]
"""
)


@contextmanager
def installed(folder: Path, *ids: str) -> Iterator[None]:
    for id_ in ids:
        install_plugin(folder / "site", id_, PLUGIN.replace("$id_scorer", f"{id_}_scorer"))
    with on_path(folder / "site"):
        yield


def config(*ids: str, **plugins: Mapping[str, Any]) -> dict[str, Any]:
    other_plugins: dict[str, Any] = {"content": {}, "seo": {}, "images": {}, **{id_: {} for id_ in ids}}
    return {
        "builtin_plugins": False,
        "plugins": {**other_plugins, **{id_: {"config": settings} for id_, settings in plugins.items()}},
    }


async def result_of(configured: dict[str, Any], folder: Path, check: str) -> tuple[str, str]:
    loaded = LoadedApp(settings_for_test(configured, folder / "data"))
    assert not loaded.plugins.failed
    findings = await diagnose(loaded, lambda: None)
    (result,) = (finding.result for finding in findings if finding.check == check)
    return result.status, result.message


@pytest.mark.parametrize(("chosen", "expected"), [("", 11), ("abacus_scorer", 11), ("seo", None)])
def test_the_operator_chooses_the_article_scorer(tmp_path: Path, chosen: str, expected: int | None) -> None:
    with (
        installed(tmp_path, "abacus"),
        RunningHost(settings_for_test(config("abacus", content={"scorer": chosen}), tmp_path / "data")) as running,
    ):
        ada = client_of(running, "ada@example.org")
        article = ada.data("create_content", title="Bread", body="Flour and water.", client_request_id="bread-1")
        score = article["seo"]["score"]

    assert (score == 11) is (expected == 11)


def test_an_article_is_saved_when_the_scorer_fails_and_its_plugin_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough to start another worker process on a busy machine.
    monkeypatch.setattr(analysis, "_SECONDS", 10.0)
    with (
        installed(tmp_path, "abacus"),
        RunningHost(settings_for_test(config("abacus"), tmp_path / "data")) as running,
    ):
        ada, gate = client_of(running, "ada@example.org"), running.host.compiled.gate
        reasons: dict[str, Reason] = {"kill": "failed", "raise": "failed", "number": "failed", "hang": "timeout"}
        for fault, reason in reasons.items():
            before = gate.failures["abacus", "extension", reason]
            article = ada.data(
                "create_content", title=fault, body="Flour and water.", client_request_id=f"faulty-{fault}"
            )
            assert article["seo"]["score"] is None
            assert article["word_count"] == 3
            assert gate.failures["abacus", "extension", reason] == before + 1
            assert gate.latest["abacus"].call.name == "scorer abacus_scorer"
        article = ada.data("create_content", title="Bread", body="Flour and water.", client_request_id="sound")
        assert article["seo"]["score"] == 11


def test_an_article_is_saved_when_the_scorers_storage_is_unavailable(tmp_path: Path) -> None:
    prepared = """
async def prepare(article):
    from pressroom.sdk import BackendError
    raise BackendError("the store of the scores does not respond")

"""
    source = PLUGIN.replace("@hookimpl\ndef pressroom_article", f"{prepared}@hookimpl\ndef pressroom_article")
    install_plugin(tmp_path / "site", "abacus", source.replace("eleven)]", "eleven, prepare=prepare)]"))
    with (
        on_path(tmp_path / "site"),
        RunningHost(settings_for_test(config("abacus"), tmp_path / "data")) as running,
    ):
        article = client_of(running, "ada@example.org").data("create_content", title="Bread", body="Flour and water.")
    assert (article["seo"]["score"], article["word_count"]) == (None, 3)


async def test_an_implicit_choice_among_several_scorers_is_reported(tmp_path: Path) -> None:
    with installed(tmp_path, "abacus"):
        by_chance = await result_of(config("abacus"), tmp_path, "content: scorer")
        result = await result_of(config("abacus", content={"scorer": "seo"}), tmp_path, "content: scorer")
        unknown = await result_of(config("abacus", content={"scorer": "yoast"}), tmp_path, "content: scorer")

    assert by_chance[0] == "warning"
    assert "abacus_scorer (plugin abacus), seo (plugin seo)" in by_chance[1]
    assert result == ("ok", "seo scores articles")
    assert unknown[0] == "error"
    assert "'yoast', which no plugin offers" in unknown[1]


async def test_providers_of_other_plugins_can_be_ordered_by_the_operator(tmp_path: Path) -> None:
    images = {"providers": ["abacus-images", "openverse", "flikr"]}
    with installed(tmp_path, "abacus"):
        status, message = await result_of(config("abacus", images=images), tmp_path, "images: providers")

    assert status == "warning"
    assert "names flikr, which no plugin offers; there is abacus-images, openverse" in message


def test_a_reviewer_cannot_replace_a_member_of_the_result() -> None:
    async def review(article: object) -> ArticleReview:
        return ArticleReview()

    for name in SeoReportOut.model_fields.keys() - {"images"}:
        with pytest.raises(ValueError, match="must be none of"):
            ArticleReviewer(name, review)
