"""An unconfigured server has all features, and an operator can restrict it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.host.loaded_app import LoadedApp
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.people import BrowserWithoutScreen
from support.server import serving

CONNECTORS = {"devto", "ghost", "git", "webhook", "wordpress"}
BUILT_ON_ARTICLES = {*CONNECTORS, "images", "search_performance", "seo"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    with RunningHost(settings_for_test({}, tmp_path_factory.mktemp("data"))) as running:
        yield running


def statuses(tmp_path: Path, **config: Any) -> dict[str, str]:
    app = LoadedApp(settings_for_test(config, tmp_path))
    assert app.plugins.failed == ()
    return {record.id: record.status for record in app.plugins.records if record.builtin}


def test_the_command_starts_every_plugin_that_comes_with_it(tmp_path: Path) -> None:
    shipped = {
        entry.name
        for distribution in distributions()
        for entry in distribution.entry_points
        if entry.group == "pressroom.plugins" and entry.value.startswith(f"pressroom_{entry.name}")
    }
    with serving(tmp_path, config="") as server:
        announced = {plugin["id"]: (plugin["status"], plugin["error"]) for plugin in server.announced["plugins"]}
        ready = httpx.get(f"{server.url}/readyz").status_code
    assert announced == dict.fromkeys(shipped, ("active", ""))
    assert announced.keys() > BUILT_ON_ARTICLES
    assert ready == 200


def test_an_article_goes_from_a_draft_to_a_page(host: RunningHost) -> None:
    website = host.call_tool("connect_website", {"platform": "builtin", "name": "The kitchen table"})["website_id"]
    body = "Water at eighty degrees, two minutes, no more."
    article = host.call_tool("create_content", {"title": "How to brew green tea", "body": body})["content_id"]
    assert host.call_tool("check_blog_seo", {"content_id": article})["score"] > 0
    published = host.call_tool("publish_content", {"content_id": article, "website_id": website})
    assert published["status"] == "published"
    assert "Water at eighty degrees" in httpx.get(published["url"]).text


def test_features_that_need_a_credential_say_so_where_they_are_used(host: RunningHost) -> None:
    catalog = host.host.compiled.catalog
    assert "get_keyword_data" not in catalog.plans["free"].mcp_tools
    [hidden] = host.call_tool("get_account_usage")["hidden_tools"]
    assert hidden["tools"] == ["get_keyword_data"]
    assert "not available" in hidden["reason"]


def test_search_sources_lead_a_new_person_to_websites(host: RunningHost) -> None:
    person = host.run(host.host.accounts.users.add("grace@example.org"))
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, person)
        assert 'class="button" href="/dashboard/websites"' in browser.get("/dashboard/search").html


def test_without_articles_the_plugins_built_on_them_are_off(tmp_path: Path) -> None:
    status_by_plugin = statuses(tmp_path, plugins={"content": {"enabled": False}})
    assert {id_ for id_, status in status_by_plugin.items() if status == "disabled"} == {"content", *BUILT_ON_ARTICLES}
    assert status_by_plugin["qr_code_generator"] == "active"


def test_a_plugin_that_is_off_with_another_says_why(tmp_path: Path) -> None:
    app = LoadedApp(settings_for_test({"plugins": {"content": {"enabled": False}}}, tmp_path))
    (record,) = (record for record in app.plugins.records if record.id == "wordpress")
    assert record.error == "it needs content, which the configuration leaves out"
    assert "[plugins.content]" in record.hint


def test_an_enabled_plugin_without_its_requirements_is_still_a_failure(tmp_path: Path) -> None:
    app = LoadedApp(settings_for_test({"plugins": {"content": {"enabled": False}, "ghost": {}}}, tmp_path))
    assert [record.id for record in app.plugins.failed] == ["ghost"]


def test_a_single_connector_can_be_left_out(tmp_path: Path) -> None:
    status_by_plugin = statuses(tmp_path, plugins={"git": {"enabled": False}})
    assert {id_ for id_, status in status_by_plugin.items() if status != "active"} == {"git"}


def test_the_operator_can_enable_only_named_plugins(tmp_path: Path) -> None:
    status_by_plugin = statuses(tmp_path, builtin_plugins=False, plugins={"qr_code_generator": {}})
    assert {id_ for id_, status in status_by_plugin.items() if status == "active"} == {"qr_code_generator"}
