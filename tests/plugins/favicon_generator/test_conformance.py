"""The plugin conforms to the contract, over HTTP and as an MCP tool."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pressroom.testing import ToolFailed, assert_plugin_conforms

pytest_plugins = ["pressroom.testing.plugin"]

CallTool = Callable[..., Any]


@pytest.fixture(scope="session")
def pressroom_config() -> dict[str, Any]:
    return {"plugins": {"favicon_generator": {"required": True}}}


def test_the_plugin_conforms() -> None:
    assert_plugin_conforms("favicon_generator")


def test_a_bundle_is_generated_over_http(http: httpx.Client) -> None:
    response = http.post(
        "/tools/favicon-generator/api/generate", json={"source": "emoji", "content": "🚀", "radius": 50}
    )
    data = response.json()["data"]
    fetched = http.get(data["url"])
    assert fetched.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(fetched.content)) as archive:
        assert archive.namelist() == data["files"]


def test_a_header_links_the_preview_image_of_the_bundle(http: httpx.Client) -> None:
    url = ""
    for _ in ("made", "from the cache"):
        response = http.post("/tools/favicon-generator/api/generate", json={"content": "Q"})
        assert set(response.json()["data"]) == {"id", "url", "expiresAt", "cached", "files", "html"}
        url, _, relation = response.headers["link"].removeprefix("<").partition(">; ")
        assert relation == 'rel="preview"'
        assert "Link" in response.headers["access-control-expose-headers"].split(", ")
        image = http.get(url)
        assert (image.status_code, image.headers["content-type"]) == (200, "image/png")
    assert http.get(url.replace("signature=", "signature=x")).status_code == 403


def test_openapi_describes_that_header_for_bundles_alone(http: httpx.Client) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    generate = {path: operations["post"] for path, operations in paths.items() if path.endswith("/generate")}
    with_link = {path for path, operation in generate.items() if "Link" in operation["responses"]["200"]["headers"]}
    assert with_link == {"/tools/favicon-generator/api/generate"}


def test_a_binary_response_is_the_zip_file(http: httpx.Client) -> None:
    response = http.post("/tools/favicon-generator/api/generate", json={"content": "P", "response": "binary"})
    assert response.headers["content-type"] == "application/zip"
    assert zipfile.is_zipfile(io.BytesIO(response.content))


def test_a_long_emoji_is_one_symbol(http: httpx.Client) -> None:
    body = {"source": "emoji", "content": "👩🏽‍❤️‍💋‍👨🏿"}
    assert http.post("/tools/favicon-generator/api/generate", json=body).status_code == 200


def test_a_float_without_a_fraction_is_an_integer(http: httpx.Client) -> None:
    ids = {
        http.post("/tools/favicon-generator/api/generate", json=body).json()["data"]["id"]
        for body in ({"content": "P"}, {"content": "P", "radius": 20.0, "fontWeight": 800.0})
    }
    assert len(ids) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"content": "AB"}, "content: must be one letter"),
        ({"content": "𓀀"}, "no font has"),
        ({"content": "P", "fontWeight": 500}, "fontWeight: must be one of 400, 600, 700, 800, 900"),
    ],
)
def test_models_learn_what_does_not_fit(call_tool: CallTool, arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(ToolFailed) as exc_info:
        call_tool("generate_favicon", **arguments)
    assert exc_info.value.code == "validation_error"
    assert problem in exc_info.value.message
