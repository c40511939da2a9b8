"""The example plugins: each conforms to the contract and works alongside the others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pressroom.testing import RunningHost, ToolFailed
from pressroom.testing.conformance import check_plugin
from pressroom.testing.running import settings_for_test

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
PLUGINS = sorted(path.stem for path in EXAMPLES.iterdir() if path.suffix == ".py" or path.is_dir())
KEYS = {"company_key": {"config": {"keys": {"newsletter": "a long secret"}}}}

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the plugin folder of an operator who copied all examples."""
    return Path(shutil.copytree(EXAMPLES, tmp_path_factory.mktemp("examples") / "plugins"))


@pytest.fixture(scope="module")
def host(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"plugins_dir": str(folder), "plugins": {**KEYS, "slow_calls": {"config": {"seconds": 0}}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


def test_the_page_lists_every_example() -> None:
    page = (EXAMPLES / "index.md").read_text(encoding="utf-8")
    assert len(PLUGINS) == 5
    assert [name for name in PLUGINS if f"]({name}" not in page] == []


@pytest.mark.parametrize("plugin", PLUGINS)
def test_an_example_conforms(folder: Path, plugin: str) -> None:
    disabled = {name: {"enabled": False} for name in PLUGINS if name != plugin}
    config = KEYS.get(plugin, {}).get("config")
    host_config = {"plugins_dir": str(folder), "plugins": disabled, "builtin_plugins": False}
    assert check_plugin(plugin, config, host_config=host_config) == []


def test_a_calendar_file_is_available_to_browsers_and_ai_clients(host: RunningHost) -> None:
    event = {"title": "Tea; cakes, and more", "start": "2026-12-01T09:00:00+01:00", "minutes": 90}
    response = httpx.post(f"{host.url}/tools/calendar-file/api/generate", json={**event, "response": "binary"})
    assert response.headers["content-type"].startswith("text/calendar")
    lines = response.text.split("\r\n")
    assert "DTSTART:20261201T080000Z" in lines
    assert "DTEND:20261201T093000Z" in lines
    assert r"SUMMARY:Tea\; cakes\, and more" in lines
    result = host.call_tool("make_calendar_file", event)
    assert httpx.get(result["url"].replace(host.settings.public_url, host.url)).content == response.content


def test_a_long_title_is_folded_at_75_octets(host: RunningHost) -> None:
    event = {"title": "ä" * 150, "start": "2026-12-01T09:00:00Z", "response": "binary"}
    content = httpx.post(f"{host.url}/tools/calendar-file/api/generate", json=event).content
    assert max(map(len, content.split(b"\r\n"))) <= 75
    assert ("ä" * 150) in content.decode().replace("\r\n ", "")


def test_a_valid_company_key_is_accepted_and_a_wrong_one_refused(host: RunningHost) -> None:
    url, event = f"{host.url}/tools/calendar-file/api/generate", {"title": "Tea", "start": "2026-12-01T09:00:00Z"}
    accepted = httpx.post(url, json=event, headers={"X-Company-Key": "a long secret"})
    refused = httpx.post(url, json=event, headers={"X-Company-Key": "another"})
    assert (accepted.status_code, refused.status_code) == (200, 401)
    assert "ask the operator" in refused.json()["error"]["message"]


def test_slow_calls_are_logged(host: RunningHost, caplog: pytest.LogCaptureFixture) -> None:
    host.call_tool("list_bookmarks")
    assert "list_bookmarks took" in caplog.text


def test_the_status_page_counts_calls(host: RunningHost) -> None:
    host.call_tool("list_bookmarks")
    host.run(host.host.pipeline.settle(10))
    assert "<td>list_bookmarks</td>" in httpx.get(f"{host.url}/status").text
    assert f"[Status]({host.settings.public_url}/status)" in httpx.get(f"{host.url}/llms.txt").text


def test_bookmarks_are_stored_found_shown_and_deleted(host: RunningHost) -> None:
    ada, ben = host.account("ada@example.org"), host.account("ben@example.org")
    ada.call_tool("bookmark_page", {"url": "https://example.org/a", "note": "first"})
    ada.call_tool("bookmark_page", {"url": "https://example.org/a", "note": "100 % <b>mine</b>"})
    (bookmark,) = ada.call_tool("list_bookmarks", {"text": "100 %"})["bookmarks"]
    assert bookmark["note"] == "100 % <b>mine</b>"
    assert ben.call_tool("list_bookmarks")["bookmarks"] == []
    with pytest.raises(ToolFailed, match="https"):
        ada.call_tool("bookmark_page", {"url": "javascript:alert(1)"})
    with ada.browser() as browser:
        page = browser.get("/dashboard/bookmarks")
        assert "100 % &lt;b&gt;mine&lt;/b&gt;" in page.text
        browser.submit("/dashboard/bookmarks", {"url": "https://example.org/a"})
    assert ada.call_tool("list_bookmarks")["bookmarks"] == []
