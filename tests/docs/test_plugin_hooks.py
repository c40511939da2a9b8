"""The example of every built-in plugin's hook is a complete plugin that passes strict types and works."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.contract import MediaFile, MediaLibrary, media_libraries
from support.content_client import Client, client_of
from support.downloads import STRICT
from support.installing import install, on_path
from support.mcp_peer import Peer
from support.people import BrowserWithoutScreen
from support.reference_text import docstring, offered_hooks

_CODE = re.compile(r"```python\n(.*?)\n```", re.DOTALL)
_ID = re.compile(r"PLUGIN = Plugin\(\s*id=\"(\w+)\"")


@dataclass(frozen=True, slots=True)
class HookExample:
    """The example of a hook, and the ID of its plugin."""

    hook: str
    plugin: str
    source: str

    @property
    def module(self) -> str:
        return f"example_{self.plugin}"


def _example(hook: str, function: Callable[..., Any]) -> HookExample:
    code = _CODE.search(docstring(function))
    assert code, f"{hook} has no example"
    id_match = _ID.search(code[1])
    assert id_match, f"the example of {hook} has no PLUGIN"
    return HookExample(hook, id_match[1], code[1])


EXAMPLES: Final = {hook: _example(hook, function) for hook, function in offered_hooks()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    for example in EXAMPLES.values():
        install(
            folder,
            f"example-{example.plugin}",
            {f"{example.module}.py": example.source},
            {example.plugin: example.module},
        )
    return folder


@pytest.fixture(scope="module")
def ada(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return a client of a server that runs all hook examples."""
    plugins: dict[str, Any] = {
        "content": {"config": {"scorer": "brevity"}},
        "images": {},
        "seo": {},
        "search_performance": {},
        "image_generator": {},
        **{example.plugin: {} for example in EXAMPLES.values()},
    }
    config = {"builtin_plugins": False, "plugins": plugins}
    data = tmp_path_factory.mktemp("data")
    with on_path(folder), RunningHost(settings_for_test(config, data)) as running:
        assert not running.host.compiled.plugins.failed
        yield client_of(running, "ada@example.org")


@pytest.mark.parametrize("hook", EXAMPLES)
def test_an_example_contributes_to_its_hook(ada: Client, hook: str) -> None:
    example = EXAMPLES[hook]
    (record,) = (record for record in ada.host.host.compiled.plugins.records if record.id == example.plugin)
    assert (record.status, record.contributes) == ("active", (hook,))


def test_the_examples_pass_strict_type_checks(folder: Path) -> None:
    modules = sorted(str(file) for file in folder.glob("example_*.py"))
    command = [sys.executable, "-m", "mypy", *STRICT]
    result = subprocess.run([*command, *modules], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stdout


def values_of(client: Client, tool: str, parameter: str) -> list[str]:
    tools = Peer(client.host, headers={"authorization": f"Bearer {client.key}"}).tools()
    (definition,) = (definition for definition in tools if definition["name"] == tool)
    values: list[str] = definition["inputSchema"]["properties"][parameter]["enum"]
    return values


def test_an_article_is_published_on_the_shelf(ada: Client) -> None:
    assert "shelf" in values_of(ada, "connect_website", "platform")
    with BrowserWithoutScreen(ada.host) as browser:
        browser.enter(ada.host, ada.host.run(ada.host.host.accounts.users.get(ada.user_id)))
        assert "Shelf" in browser.get("/dashboard/websites").text


def test_an_archive_image_is_found(ada: Client) -> None:
    assert "archive" in values_of(ada, "search_images", "provider")
    (image,) = ada.data("search_images", query="harbour", provider="archive")["images"]
    assert image["ref"] == "archive:1"


def test_figures_of_the_example_can_be_requested(ada: Client) -> None:
    assert "kagi" in values_of(ada, "get_search_performance", "provider")


def test_sources_of_the_examples_are_offered_on_the_dashboard(ada: Client) -> None:
    website = ada.data("connect_website", platform="builtin", name="Notes")["website_id"]
    with BrowserWithoutScreen(ada.host) as browser:
        browser.enter(ada.host, ada.host.run(ada.host.host.accounts.users.get(ada.user_id)))
        page = browser.get(f"/dashboard/search/{website}").text
    assert "Kagi" in page
    assert "Counter" in page


def test_keyword_data_of_the_example_is_returned(ada: Client) -> None:
    result = ada.data("get_keyword_data", phrases=["bread"])
    assert (result["provider"], result["rows"][0]["volume"]) == ("Volumes", 90_500)


def test_an_article_is_scored_and_reviewed(ada: Client) -> None:
    article = ada.data("create_content", title="Bread", body="This is bread. " * 150 + "SHOUTED")
    assert article["seo"]["top_fixes"] == ["Cut it to 300 words."]
    result = ada.data("check_blog_seo", content_id=article["content_id"], include=["shouting"])
    assert result["shouting"] == {"words": ["SHOUTED"]}


def test_an_article_is_scored_in_the_examples_language(ada: Client) -> None:
    article = {"title": "moku pona", "body": "jan li moku e pan. " * 40, "language": "tok"}
    result = ada.data("check_blog_seo", article=article)
    assert not [note for note in result["notes"] if "rules" in note]


def test_an_image_is_generated_from_the_template(ada: Client) -> None:
    image = ada.data("generate_image", template="card", props={"title": "Bread"})
    assert (image["width"], image["height"]) == (600, 400)


async def read(library: MediaLibrary, client: Client) -> MediaFile:
    return await library.read(client.plugin, client.user_id, "m_" + "Logo00" * 3 + "Logo")


def test_a_logo_is_read_from_the_library(ada: Client) -> None:
    (library,) = (library for owner, library in media_libraries(ada.plugin) if owner == "logos")
    file: MediaFile = asyncio.run(read(library, ada))
    assert file.media_type == "image/svg+xml"
