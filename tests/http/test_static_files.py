"""Static files of plugins: served to everybody, while the rest of the package is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pressroom.host.loaded_app import LoadedApp
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.installing import on_path
from support.plugin_source import SOUND, install_plugin

ROUTE = """
@hookimpl
def pressroom_routes():
    return [static_files("/shelf/static", "acme_shelf")]
"""
FILES = {
    "page.css": b"h1 { color: teal }",
    "logo.SVG": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "run.js": b"'use strict';",
    ".hidden.css": b"secret",
    "notes.py": b"SECRET = 1",
    "deep/page.css": b"secret",
}


def installed(folder: Path) -> Path:
    install_plugin(folder, "shelf", SOUND + ROUTE)
    for name, content in FILES.items():
        file = folder / "acme_shelf" / "static" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    settings = settings_for_test({"builtin_plugins": False, "plugins": {"shelf": {}}}, tmp_path_factory.mktemp("data"))
    with on_path(installed(tmp_path_factory.mktemp("site"))), RunningHost(settings) as running:
        assert not running.host.compiled.plugins.failed
        with httpx.Client(base_url=running.url) as client:
            yield client


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("page.css", "text/css; charset=utf-8"),
        ("logo.SVG", "image/svg+xml"),
        ("run.js", "text/javascript; charset=utf-8"),
    ],
)
def test_a_file_is_served_and_not_resent_when_unchanged(http: httpx.Client, name: str, media_type: str) -> None:
    response = http.get(f"/shelf/static/{name}")
    assert (response.status_code, response.content, response.headers["content-type"]) == (200, FILES[name], media_type)
    for if_none_match in (response.headers["etag"], f'"other", W/{response.headers["etag"]}', "*"):
        repeated = http.get(f"/shelf/static/{name}", headers={"If-None-Match": if_none_match})
        assert (repeated.status_code, repeated.content) == (304, b"")
    assert http.get(f"/shelf/static/{name}", headers={"If-None-Match": '"other"'}).status_code == 200
    head = http.head(f"/shelf/static/{name}")
    assert (head.status_code, head.headers["etag"]) == (200, response.headers["etag"])


@pytest.mark.parametrize(
    "name",
    [
        *(".hidden.css", "notes.py", "deep", "deep/page.css", "none.css"),
        *("..%2fplugin.py", "%2e%2e/plugin.py", "..%2f..%2fetc%2fpasswd"),
    ],
)
def test_other_files_of_the_package_are_not_served(http: httpx.Client, name: str) -> None:
    response = http.get(f"/shelf/static/{name}")
    assert response.status_code == 404
    assert b"secret" not in response.content.lower()


def test_a_missing_folder_breaks_the_plugin(tmp_path: Path) -> None:
    install_plugin(tmp_path / "site", "bare", SOUND + ROUTE.replace("acme_shelf", "acme_bare"))
    with on_path(tmp_path / "site"):
        loaded = LoadedApp(settings_for_test({"builtin_plugins": False, "plugins": {"bare": {}}}, tmp_path / "data"))
    (record,) = (record for record in loaded.plugins.records if record.id == "bare")
    assert (record.status, record.phase) == ("broken", "collect")
    assert "the package acme_bare has no folder 'static'" in record.error
