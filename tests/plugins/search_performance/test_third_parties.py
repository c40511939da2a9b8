"""Third-party analytics and keyword data: in tools, on the dashboard and in `doctor`, and only if chosen explicitly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pressroom.cli.diagnosis import diagnose
from pressroom.host.loaded_app import LoadedApp
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.installing import on_path
from support.people import BrowserWithoutScreen
from support.plugin_source import HEAD, install_plugin
from support.standin_google import Google

from .conftest import Site, new_site

PLUGIN = (
    HEAD
    + """
import asyncio

from pressroom_content.contract import CredentialField
from pressroom_search_performance.contract import *

PLUGIN = Plugin(id="$id", title="Counter", summary="For tests.", requires=("search_performance", "content"))


class Counter:
    async def check(self, site_url, credential, fetcher):
        if credential["token"] == "waits":
            await asyncio.Event().wait()
        if credential["token"] != "right":
            raise InvalidInput("token", "is not one of Counter's")

    async def traffic(self, site, credential, question, fetcher):
        if site == "broken.example":
            raise ZeroDivisionError
        if site == "silent.example":
            await asyncio.Event().wait()
        return Traffic(Visits(7, 9, 12), (("/a", Visits(7, 9, 12)),))

    async def page(self, site, credential, url, start, end, fetcher):
        return Visits(1, 2, 3)


@hookimpl
def pressroom_analytics_sources():
    fields = (CredentialField("token", "Token"),)
    return [AnalyticsSource("ANALYTICS", "Counter", "Domain", "As Counter names it.", fields, Counter())]


async def ask(question, fetcher):
    if "silence" in question.phrases:
        await asyncio.Event().wait()
    return KeywordResult(tuple(KeywordFigures(phrase, volume=40) for phrase in question.phrases))


@hookimpl
def pressroom_keyword_sources():
    return [KeywordSource("KEYWORDS", "Words of $id", ask)]
"""
)


@contextmanager
def configured(
    folder: Path, *ids: str, analytics: str = "${id}_counter", keywords: str = "${id}_words", **figures: Any
) -> Iterator[dict[str, Any]]:
    """Install the plugin under each ID, and yield a configuration that enables them."""
    for id_ in ids:
        names = PLUGIN.replace("ANALYTICS", analytics).replace("KEYWORDS", keywords)
        install_plugin(folder / "site", id_, names)
    plugins: dict[str, Any] = {"content": {}, "search_performance": {"config": figures}, **{id_: {} for id_ in ids}}
    with on_path(folder / "site"):
        yield {"builtin_plugins": False, "plugins": plugins}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("third")
    with (
        configured(folder, "acme", source_seconds=1) as config,
        RunningHost(settings_for_test(config, folder / "data")) as running,
    ):
        assert not running.host.compiled.plugins.failed
        yield new_site(running, Google())


def connect(site: Site, **typed: str) -> str:
    path = f"/dashboard/search/{site.website.id}"
    with BrowserWithoutScreen(site.client.host) as browser:
        host = site.client.host
        browser.enter(host, host.run(host.host.accounts.users.get(site.client.user_id)))
        assert "Counter" in browser.get("/dashboard/search").text
        return browser.submit(browser.get(path), path, source="acme_counter", do="connect", **typed).one(
            "#source-acme_counter"
        )


def test_analytics_of_a_third_party_are_connected_on_the_dashboard_and_read_over_mcp(site: Site) -> None:
    assert "Counter" in site.client.refusal("get_traffic_stats", website_id=site.website.id)
    assert "is not one of Counter" in connect(site, property="notes.example", token="wrong")
    assert "connected" in connect(site, property="notes.example", token="right")

    result = site.data("get_traffic_stats")

    assert (result["provider"], result["totals"]["visits"], result["rows"][0]["key"]) == ("Counter", 9, "/a")


def test_failing_analytics_are_named(site: Site) -> None:
    connect(site, property="broken.example", token="right")
    assert "Counter failed" in site.client.refusal("get_traffic_stats", website_id=site.website.id)


def test_what_never_responds_is_named_and_abandoned(site: Site) -> None:
    assert "Counter did not respond within 1 s" in connect(site, property="notes.example", token="waits")
    connect(site, property="silent.example", token="right")
    message = site.client.refusal("get_traffic_stats", website_id=site.website.id)
    assert "Counter did not respond within 1 s" in message
    message = site.client.refusal("get_keyword_data", phrases=["silence"])
    assert "Words of acme did not respond within 1 s" in message

    gate = site.client.host.host.compiled.gate
    assert gate.failures["acme", "extension", "timeout"] == 3


def test_keyword_data_of_a_third_party_is_used(site: Site) -> None:
    result = site.client.data("get_keyword_data", phrases=["compost"])
    assert (result["provider"], result["rows"][0]["volume"]) == ("Words of acme", 40)


async def result_of(config: dict[str, Any], folder: Path, check: str) -> tuple[str, str]:
    findings = await diagnose(LoadedApp(settings_for_test(config, folder / "data")), lambda: None)
    (result,) = (finding.result for finding in findings if finding.check == f"search_performance: {check}")
    return result.status, result.message


async def test_the_operator_chooses_between_providers_of_keyword_data(tmp_path: Path) -> None:
    with configured(tmp_path, "bison", "zebra", keyword_source="zebra_words") as config:
        assert await result_of(config, tmp_path, "keyword source") == (
            "ok",
            "Words of zebra is asked for keyword data",
        )
        config["plugins"]["search_performance"] = {}
        status, message = await result_of(config, tmp_path, "keyword source")
    assert status == "warning"
    assert "bison_words is asked" in message
    assert "zebra_words (plugin zebra)" in message


async def test_an_unknown_provider_is_named(tmp_path: Path) -> None:
    with configured(tmp_path, "camel", keyword_source="camel_wrods") as config:
        status, message = await result_of(config, tmp_path, "keyword source")
    assert status == "error"
    assert "'camel_wrods', which no plugin offers; there is camel_words (plugin camel)" in message


async def test_a_name_that_is_used_for_search_figures_too_is_reported(tmp_path: Path) -> None:
    with configured(tmp_path, "dingo", analytics="google") as config:
        status, message = await result_of(config, tmp_path, "names of sources")
    assert status == "error"
    assert "google (plugins search_performance and dingo)" in message


def test_built_in_analytics_keep_their_name(tmp_path: Path) -> None:
    with configured(tmp_path, "eland", analytics="matomo") as config:
        plugins = LoadedApp(settings_for_test(config, tmp_path / "data")).plugins
    status = {record.id: record.status for record in plugins.records}
    assert (status["eland"], status["search_performance"]) == ("conflict", "active")
