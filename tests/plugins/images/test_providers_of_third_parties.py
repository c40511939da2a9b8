"""Third-party image providers that are unavailable, hang or raise unexpected exceptions: the others still work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_images.sources import search as searching
from support.content_client import Client, client_of
from support.installing import on_path
from support.plugin_source import HEAD, install_plugin

PLUGIN = (
    HEAD
    + """
import asyncio
from pressroom_content.contract import *

PLUGIN = Plugin(id="$id", api="1", title="Providers", summary="For tests.", requires=("content",))
LICENSE = ImageLicense("CC0-1.0", "", True, True, False)
IMAGE = FoundImage(ref="sound:1", provider="sound", title="Tea", width=4, height=3, mime="image/png",
    thumb_url="https://fake.example/1", preview_url="https://fake.example/1", page_url="https://fake.example/1",
    creator="", license=LICENSE, credit=Credit(), hosting="hotlink", file_url="https://fake.example/1")

async def away(plugin, query):
    raise BackendError("connection refused by 10.0.0.7")

async def broken(plugin, query):
    raise KeyError("photos")

async def hanging(plugin, query):
    await asyncio.Event().wait()

async def search(plugin, query):
    return ImagePage((IMAGE,))

async def get(plugin, image_id):
    return IMAGE

@hookimpl
def pressroom_image_sources():
    return [
        ImageSource("away", "Away", away, away),
        ImageSource("broken", "Broken", broken, broken),
        ImageSource("hanging", "Hanging", hanging, hanging),
        ImageSource("sound", "Sound", search, get, used=away),
    ]
"""
)
NOTES = {
    "away": "Away cannot be reached at the moment",
    "broken": "Broken failed; the server's log has the reason",
    "hanging": "Hanging does not respond",
}


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("providers")
    install_plugin(folder / "site", "providers", PLUGIN)
    plugins: dict[str, Any] = {"content": {}, "images": {"config": {"providers": []}}, "providers": {}}
    with pytest.MonkeyPatch.context() as patch, on_path(folder / "site"):
        patch.setattr(searching, "PROVIDER_SECONDS", 1.0)
        patch.setattr(searching, "_PAUSE", 0.0)
        with RunningHost(settings_for_test({"builtin_plugins": False, "plugins": plugins}, folder / "data")) as host:
            yield client_of(host, "ada@example.org")


def test_a_search_of_all_providers_returns_the_results_of_the_working_ones(ada: Client) -> None:
    result = ada.data("search_images", query="tea")
    assert [image["ref"] for image in result["images"]] == ["sound:1"]
    assert sorted(result["provider_notes"]) == sorted(NOTES.values())


@pytest.mark.parametrize("name", NOTES)
def test_a_search_of_a_failing_provider_names_it_and_an_alternative(ada: Client, name: str) -> None:
    refused = ada.refusal("search_images", query="tea", provider=name)
    assert NOTES[name] in refused
    assert "Provider auto asks the others" in refused
    assert "10.0.0.7" not in refused


@pytest.mark.parametrize("name", NOTES)
def test_an_import_names_the_failing_provider(ada: Client, name: str) -> None:
    refused = ada.refusal("import_image", image_ref=f"{name}:1", alt_text="A cup of tea")
    assert NOTES[name] in refused


def test_an_image_is_imported_even_if_its_use_cannot_be_reported(ada: Client) -> None:
    ada.data("import_image", image_ref="sound:1", alt_text="A cup of tea")
    assert ada.data("search_images", query="cup", provider="library")["images"]
