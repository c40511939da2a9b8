"""A third party's connector, image source and search source: usable over MCP, and never replacing another plugin's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pressroom.cli import main
from pressroom.cli.diagnosis import diagnose
from pressroom.host.loaded_app import LoadedApp
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.content_client import Client, client_of
from support.installing import on_path
from support.mcp_peer import Peer
from support.people import BrowserWithoutScreen
from support.plugin_source import HEAD, install_plugin

PLUGIN = (
    HEAD
    + """
from pressroom_content.contract import *

PLUGIN = Plugin(id="$id", title="Fake CMS", summary="For tests.", requires=("content",))

@hookimpl
def pressroom_site_connectors():
    return [SiteConnector(platform=PLATFORM, title="Fake CMS", summary="x", open=None, capabilities=Capabilities(),
            fields=(CredentialField("token", "Token"),))]

async def search(plugin, query):
    license = ImageLicense("CC0-1.0", "", True, True, False)
    return ImagePage((FoundImage(ref="fake:1", provider="fake", title=query.text, width=4, height=3, mime="image/png",
        thumb_url="https://fake.example/1", preview_url="https://fake.example/1", page_url="https://fake.example/1",
        creator="", license=license, credit=Credit(), hosting="download", file_url="https://fake.example/1"),))

@hookimpl
def pressroom_image_sources():
    return [ImageSource(SOURCE, "Fake", search, search)]

@hookimpl
def pressroom_search_sources():
    return [SearchSource("fakesearch", "Fake search", search)]
"""
)
OTHERS: dict[str, Any] = {"content": {}, "images": {}, "search_performance": {}, "wordpress": {}}


@contextmanager
def configured(
    tmp_path: Path,
    id_: str,
    *,
    platform: str = "fakecms",
    source: str = "fake",
    more: tuple[str, ...] = (),
    source_of: str = PLUGIN,
) -> Iterator[dict[str, Any]]:
    """Install the plugin, and yield a configuration that enables it and the content service."""
    module = source_of.replace("PLATFORM", repr(platform)).replace("SOURCE", repr(source))
    for plugin_id in (id_, *more):
        install_plugin(tmp_path / "site", plugin_id, module)
    with on_path(tmp_path / "site"):
        yield {"builtin_plugins": False, "plugins": {**OTHERS, **{plugin_id: {} for plugin_id in (id_, *more)}}}


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Client]:
    """Return a client of a server with the content service and a third-party plugin."""
    with (
        configured(tmp_path, "fakecms") as config,
        RunningHost(settings_for_test(config, tmp_path / "data")) as running,
    ):
        assert not running.host.compiled.plugins.failed
        yield client_of(running, "ada@example.org")


def values_of(client: Client, tool: str, parameter: str) -> list[str]:
    (schema,) = (
        candidate
        for candidate in Peer(client.host, headers={"authorization": f"Bearer {client.key}"}).tools()
        if candidate["name"] == tool
    )
    values: list[str] = schema["inputSchema"]["properties"][parameter]["enum"]
    return values


def test_a_third_party_connector_can_be_connected_over_mcp(ada: Client) -> None:
    result = ada.data("connect_website", platform="fakecms")
    assert result["state"] == "waiting_for_user"
    assert result["connect_url"].startswith(ada.host.url)


def test_an_image_source_of_a_third_party_can_be_searched_alone(ada: Client) -> None:
    (image,) = ada.data("search_images", query="a quiet harbour", provider="fake")["images"]
    assert (image["ref"], image["title"]) == ("fake:1", "a quiet harbour")


@pytest.mark.parametrize(
    "fault", ["raise SystemExit(3)", "raise ZeroDivisionError", "raise type('P', (BaseException,), {})"]
)
def test_a_failing_source_is_reported_in_words_and_its_plugin_is_named(tmp_path: Path, fault: str) -> None:
    broken = PLUGIN.replace("    license =", f"    {fault}\n    license =")
    with (
        configured(tmp_path, "fakecms", source_of=broken) as config,
        RunningHost(settings_for_test(config, tmp_path / "data")) as running,
    ):
        ada = client_of(running, "ada@example.org")
        assert "Fake failed" in ada.refusal("search_images", query="harbour", provider="fake")
        assert dict(running.host.compiled.gate.failures) == {("fakecms", "extension", "failed"): 1}
        latest = running.host.compiled.gate.latest["fakecms"]
        assert str(latest.call) == "the extension image source fake"


def test_a_connector_that_fails_to_open_is_named(ada: Client) -> None:
    path = urlsplit(ada.data("connect_website", platform="fakecms")["connect_url"]).path
    with BrowserWithoutScreen(ada.host) as browser:
        browser.enter(ada.host, ada.host.run(ada.host.host.accounts.users.get(ada.user_id)))
        page = browser.submit(browser.get(path), path, url="https://site.example", token="tok_1", do="connect")
    assert "the connector failed with an internal error" in page.text
    assert dict(ada.host.host.compiled.gate.failures) == {("fakecms", "extension", "failed"): 1}
    assert "tok_1" not in ada.host.host.compiled.gate.latest["fakecms"].error


def test_clients_learn_what_this_server_has_and_nothing_else(ada: Client) -> None:
    assert values_of(ada, "connect_website", "platform") == ["builtin", "fakecms", "wordpress"]
    assert values_of(ada, "search_images", "provider") == ["auto", "openverse", "wikimedia", "fake", "library"]
    assert values_of(ada, "get_search_performance", "provider") == ["auto", "bing", "fakesearch", "google"]
    assert "platform: must be one of builtin, fakecms, wordpress" in ada.refusal("connect_website", platform="ghost")


@pytest.mark.parametrize(
    ("wanted", "owner"),
    [
        ({"platform": "wordpress"}, "wordpress"),
        ({"platform": "builtin"}, "content"),
        ({"source": "openverse"}, "images"),
    ],
)
async def test_a_built_in_name_cannot_be_taken(tmp_path: Path, wanted: dict[str, str], owner: str) -> None:
    with configured(tmp_path, "a_first", **wanted, more=()) as config:
        compiled = LoadedApp(settings_for_test(config, tmp_path / "data"))
        findings = await diagnose(compiled, lambda: None)

    (name,) = wanted.values()
    status = {record.id: record.status for record in compiled.plugins.records}
    assert (status["a_first"], status[owner]) == ("conflict", "active")
    (finding,) = (finding for finding in findings if finding.check == "plugin a_first")
    assert finding.result.status == "error"
    assert f"the name {name} in pressroom_" in finding.result.message
    assert f"is offered by {owner} too" in finding.result.message


def test_two_third_parties_with_the_same_name_both_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with configured(tmp_path, "one_cms", more=("two_cms",)) as config:
        file = tmp_path / "pressroom.toml"
        tables = "".join(f"[plugins.{id_}]\n" for id_ in config["plugins"])
        file.write_text(f'builtin_plugins = false\n{tables}[storage]\npath = "{tmp_path / "data"}"\n')
        assert main(["plugins", "show", "one_cms", "--config", str(file)]) == 1
    output = " ".join(capsys.readouterr().out.split())
    assert "conflict" in output
    assert "two_cms" in output


@pytest.mark.parametrize(
    ("wrong", "expected"), [({"source": "library"}, "none of auto, library"), ({"platform": "Fake CMS"}, "lower-case")]
)
def test_an_invalid_name_is_refused(tmp_path: Path, wrong: dict[str, str], expected: str) -> None:
    with configured(tmp_path, "fakecms", **wrong, more=()) as config:
        plugins = LoadedApp(settings_for_test(config, tmp_path / "data")).plugins
    (record,) = plugins.failed
    assert record.id == "fakecms"
    assert expected in record.error
