"""The plugin conforms to the contract, over HTTP and as an MCP tool."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from pressroom.sdk import per_hour
from pressroom.testing import RunningHost, ToolFailed, assert_plugin_conforms, settings_for_test
from pressroom_image_generator.plugin import generate
from pressroom_image_generator.templates import BUILT_IN
from support.installing import on_path
from support.mcp_peer import Peer, account
from support.plugin_source import HEAD, install_plugin

pytest_plugins = ["pressroom.testing.plugin"]

CallTool = Callable[..., Any]
API = "/tools/image-generator/api/generate"
BLUE = '<div style="display:flex;width:100%;height:100%;background:#0000ff"></div>'


@pytest.fixture(scope="session")
def pressroom_config() -> dict[str, Any]:
    return {
        "plugins": {"image_generator": {"required": True}},
        "tools": {"image-generator": {"rate_limit": "10000/hour"}},
    }


def image(http: httpx.Client, **body: Any) -> Image.Image:
    response = http.post(API, json={**body, "response": "binary"})
    assert response.status_code == 200, response.text
    return Image.open(io.BytesIO(response.content))


def test_the_plugin_conforms() -> None:
    assert_plugin_conforms("image_generator")


def test_the_limit_matches_the_contract() -> None:
    assert (generate.rate_limit, generate.produces) == (per_hour(60), ("image/png", "image/jpeg"))
    assert generate.mcp is not None
    assert (generate.mcp.name, generate.mcp.quota) == ("generate_image", "images_generated")


def test_the_response_has_the_size_and_the_format(http: httpx.Client) -> None:
    data = http.post(API, json={"html": BLUE, "width": 800, "format": "jpeg"}).json()["data"]
    assert (data["width"], data["height"], data["format"]) == (800, 420, "jpeg")
    file = http.get(data["url"])
    assert file.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(file.content)).size == (800, 420)


def test_html_is_rendered_as_an_image(http: httpx.Client) -> None:
    rendered = image(http, html=BLUE, height=300)
    assert (rendered.format, rendered.size) == ("PNG", (1200, 300))
    assert rendered.convert("RGB").getpixel((600, 150)) == (0, 0, 255)


def test_a_jpeg_has_full_colour_resolution_and_a_white_background(http: httpx.Client) -> None:
    half = '<div style="display:flex;width:50%;height:100%;background:#ff0000"></div>'
    rendered = image(http, html=half, format="jpeg", width=401, height=200)
    assert rendered.format == "JPEG"
    assert rendered.layer is not None  # type: ignore[attr-defined] # what libjpeg found
    assert {sampling[1:3] for sampling in rendered.layer} == {(1, 1)}  # type: ignore[attr-defined]
    assert min(rendered.convert("RGB").getpixel((390, 100))) >= 253  # type: ignore[arg-type]


@pytest.mark.parametrize("template", ["og", "twitter-header", "linkedin-banner", "square", "story"])
def test_a_template_has_its_own_size(http: httpx.Client, template: str) -> None:
    data = http.post(API, json={"template": template, "props": {"title": "A title"}}).json()["data"]
    sizes = {
        "og": (1200, 630),
        "twitter-header": (1500, 500),
        "linkedin-banner": (1584, 396),
        "square": (1080, 1080),
        "story": (1080, 1920),
    }
    assert (data["width"], data["height"]) == sizes[template]
    assert "warnings" not in data


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "html: is missing"),
        ({"html": BLUE, "template": "og"}, "template: give either html or template, not both"),
        ({"html": BLUE, "width": 9000}, "width: must be between 200 and 2400 (got 9000)"),
        ({"html": BLUE, "height": 300, "aspectRatio": "1:1"}, "aspectRatio: give either height or aspectRatio"),
        ({"html": BLUE, "aspectRatio": "1:9"}, "makes a height of 10800"),
        ({"template": "og", "props": {"titel": "a"}}, "props.titel: unknown field; did you mean title?"),
        (
            {"template": "ogg"},
            "template: must be one of og, twitter-header, linkedin-banner, square, story, photo",
        ),
        ({"html": '<img src="http://example.com/a.png">'}, "http://example.com/a.png"),
        ({"html": '<img src="file:///etc/passwd">'}, "file:///etc/passwd"),
        (
            {"html": "".join(f'<img src="https://example.com/{number}.png">' for number in range(11))},
            "html: has 11 images with a URL; at most 10 are allowed",
        ),
    ],
)
def test_invalid_input_is_a_400_that_does_not_count_against_the_limit(
    http: httpx.Client, body: dict[str, Any], message: str
) -> None:
    before = http.post(API, json={"html": BLUE}).headers["ratelimit-remaining"]
    response = http.post(API, json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "validation_error")
    assert message in response.json()["error"]["message"]
    assert response.headers["ratelimit-remaining"] == before


@pytest.mark.parametrize(
    ("html", "named"),
    [
        ("<div>" * 900 + "x", "nested inside each other"),
        ("<i></i>" * 1400 + "</i>" * 40, ""),
        ('<div style="background:url(http://example.com/a.png)">x</div>', "http://example.com/a.png"),
        ('<div style="background:url(https://example.com/a.png)">x</div>', "https://example.com/a.png"),
        ('<link rel="stylesheet" href="https://example.com/a.css">', "<link>"),
        ("<style>@font-face { src: url(https://example.com/a.woff2) }</style>", "<style>"),
        ("<script>alert(1)</script>", "<script>"),
        ('<div style="width:99999999px;height:99999999px;filter:blur(10000px);background:red">x</div>', ""),
        ('<svg width="90" height="1e9" style="width:0.5px"></svg>', ""),
        ("\N{FACE WITH TEARS OF JOY}\u200d" * 4000, ""),
    ],
)
def test_hostile_html_results_in_an_image_or_a_400(http: httpx.Client, html: str, named: str) -> None:
    """The request passes through the whole server, and the worker remains usable."""
    response = http.post(API, json={"html": html})
    if named:
        assert (response.status_code, response.json()["error"]["code"]) == (400, "validation_error")
        assert named in response.json()["error"]["message"]
    else:
        assert response.status_code in (200, 400), response.text
    assert http.post(API, json={"html": f"{BLUE}<p>{len(html)}</p>"}).status_code == 200


def test_unsupported_css_is_reported(http: httpx.Client) -> None:
    body = {"html": '<div style="display:flex;hover-delay:3s">a</div>'}
    response = http.post(API, json=body)
    assert any("hover-delay" in warning for warning in response.json()["data"]["warnings"])
    binary = http.post(API, json={**body, "response": "binary"})
    assert json.loads(binary.headers["x-warnings"]) == response.json()["data"]["warnings"]


@pytest.mark.parametrize(
    "body",
    [
        {"html": f"<p>equal</p>{BLUE}"},
        {"template": "square", "props": {"title": "Equal", "theme": "gradient"}, "format": "jpeg"},
    ],
)
def test_equal_parameters_return_identical_bytes(tmp_path: Path, body: dict[str, Any]) -> None:
    contents = []
    for name in ("one", "two"):
        settings = settings_for_test({"plugins": {"image_generator": {}}}, tmp_path / name)
        with RunningHost(settings) as host, httpx.Client(base_url=host.url, timeout=30) as client:
            contents.append(client.post(API, json={**body, "response": "binary"}).content)
    assert contents[0] == contents[1]


def test_a_model_gets_the_same_file(http: httpx.Client, call_tool: CallTool) -> None:
    body = {"template": "og", "props": {"title": "For models"}}
    result = call_tool("generate_image", **body)
    assert result["id"] == http.post(API, json=body).json()["data"]["id"]
    with pytest.raises(ToolFailed, match=r"props\.titel: unknown field; did you mean title"):
        call_tool("generate_image", template="og", props={"titel": "a"})


TEMPLATES = (
    HEAD
    + """
from pathlib import Path
from pressroom_image_generator.templates import ImageTemplate

PLUGIN = Plugin(id="$id", title="Quotes", summary="Adds a quote.", requires=("image_generator",))


@hookimpl
def pressroom_image_templates():
    return [ImageTemplate("poster", "A quote", 600, 300, Path(FOLDER))]
"""
)


@contextmanager
def quotes(tmp_path: Path) -> Iterator[RunningHost]:
    """Run a host with a plugin that adds a template."""
    folder = tmp_path / "poster"
    folder.mkdir()
    (folder / "template.html").write_text(
        '<div style="display:flex;width:100%;height:100%;background:{{ colors.accent }}">{{ props.title }}</div>'
    )
    installed = install_plugin(tmp_path / "site", "posters", TEMPLATES.replace("FOLDER", repr(str(folder))))
    config = {"plugins": {"image_generator": {}, **installed.plugins}}
    with on_path(tmp_path / "site"), RunningHost(settings_for_test(config, tmp_path / "data")) as host:
        yield host


@pytest.fixture
def with_quotes(tmp_path: Path) -> Iterator[httpx.Client]:
    with quotes(tmp_path) as host, httpx.Client(base_url=host.url, timeout=30) as client:
        yield client


def test_another_plugin_adds_a_template(with_quotes: httpx.Client) -> None:
    rendered = image(with_quotes, template="poster", props={"accentColor": "#ff0000"}, width=400)
    assert rendered.size == (400, 200)
    assert rendered.convert("RGB").getpixel((200, 100)) == (255, 0, 0)
    unknown = with_quotes.post(API, json={"template": "posters"}).json()["error"]["message"]
    assert "minimal, poster (got 'posters')" in unknown
    flat = with_quotes.post(API, json={"template": "poster", "width": 300}).json()["error"]["message"]
    assert flat == "width: makes a height of 150 at a width of 300; it must be between 200 and 2400"


def test_a_template_that_a_plugin_adds_is_listed(with_quotes: httpx.Client, http: httpx.Client) -> None:
    """It is listed in the descriptor, in OpenAPI and on the page, unless the server lacks the plugin."""
    names = list(BUILT_IN)
    for client, expected in ((with_quotes, [*names, "poster"]), (http, names)):
        endpoint = client.get("/tools/image-generator/api").json()["data"]["endpoints"][0]
        assert next(param for param in endpoint["params"] if param["name"] == "template")["enumValues"] == expected
        assert ('"poster"' in client.get("/openapi.json").text) == ("poster" in expected)
        assert ("poster" in client.get("/tools/image-generator").text) == ("poster" in expected)


def test_models_learn_about_a_template_that_a_plugin_adds(tmp_path: Path) -> None:
    with quotes(tmp_path) as host:
        listed = Peer(host, account(host), {"x-mcp-toolsets": "generators"}).tools()
    schema = next(tool for tool in listed if tool["name"] == "generate_image")["inputSchema"]
    assert schema["properties"]["template"]["enum"][-2:] == ["minimal", "poster"]
