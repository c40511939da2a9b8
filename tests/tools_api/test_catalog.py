"""Catalog, descriptors and OpenAPI: the tool descriptions for clients."""

import asyncio
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test

GOLDEN = Path(__file__).parent / "golden"

Start = Callable[..., RunningHost]


def same_as_golden(name: str, document: dict[str, Any], url: str) -> None:
    """Compare with the committed document; PRESSROOM_TEST_UPDATE_GOLDEN=1 updates it."""
    text = json.dumps(document, indent=2, ensure_ascii=False).replace(url, "{base_url}") + "\n"
    file = GOLDEN / name
    if os.environ.get("PRESSROOM_TEST_UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert json.loads(file.read_text()) == json.loads(text)


@pytest.fixture(scope="module")
def builtin_host(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with RunningHost(settings_for_test({}, tmp_path_factory.mktemp("data"))) as host:
        yield host


def test_the_catalog_matches_its_golden_file(builtin_host: RunningHost) -> None:
    response = httpx.get(f"{builtin_host.url}/tools/api")

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    same_as_golden("catalog.json", response.json(), builtin_host.url)


def test_openapi_matches_its_golden_file(builtin_host: RunningHost) -> None:
    same_as_golden("openapi.json", httpx.get(f"{builtin_host.url}/openapi.json").json(), builtin_host.url)


def test_the_wrapper_has_the_fields_of_the_contract(api: httpx.Client) -> None:
    catalog = api.get("/tools/api").json()

    assert set(catalog) == {"version", "baseUrl", "platform", "mcp", "llmInstructions", "tools", "stats", "pressroom"}
    assert catalog["stats"] == {"total": 8, "withApi": 8}
    assert [tool["slug"] for tool in catalog["tools"]] == [
        "code-to-image",
        "favicon-generator",
        "gate",
        "image-generator",
        "impatient",
        "qr-code-generator",
        "text-file",
        "unruly",
    ]


def test_a_descriptor_has_the_fields_of_the_contract(api: httpx.Client) -> None:
    response = api.get("/tools/qr-code-generator/api").json()

    assert set(response) == {"ok", "data", "pressroom"}
    tool = response["data"]
    required = {"slug", "name", "description", "pageUrl", "apiBaseUrl", "hasApi", "clientOnly", "tags", "rateLimit"}
    assert required | {"endpoints", "promo"} <= set(tool)
    assert (tool["pageUrl"], tool["apiBaseUrl"]) == ("/tools/qr-code-generator", "/tools/qr-code-generator/api")
    assert set(tool["promo"]) == {"tagline", "description", "useCases", "llmInstructions", "ctaUrl", "relatedFeatures"}
    (endpoint,) = tool["endpoints"]
    assert (endpoint["path"], endpoint["method"], endpoint["cacheDiscount"]) == ("/generate", "POST", 0.1)
    assert endpoint["responseContentType"] == ["application/json", "image/png", "image/svg+xml"]
    params = {param["name"]: param for param in endpoint["params"]}
    assert list(params)[:7] == ["text", "size", "margin", "fgColor", "bgColor", "errorCorrection", "format"]
    assert list(params)[-1] == "response"
    bounds = {
        name: tuple(params[name].get(key) for key in ("type", "required", "default", "min", "max")) for name in params
    }
    assert not any(required for name, (_, required, *_) in bounds.items() if name != "text")
    assert (
        bounds
        | {
            "text": ("string", True, None, 1, 2048),
            "size": ("number", False, 512, 64, 2048),
            "margin": ("number", False, 2, 0, 16),
            "fgColor": ("string", False, "#000000", None, 9),
            "bgColor": ("string", False, "#ffffff", None, 9),
            "errorCorrection": ("enum", False, "M", None, None),
            "format": ("enum", False, "png", None, None),
            "response": ("enum", False, "url", None, None),
        }
        == bounds
    )
    assert params["errorCorrection"]["enumValues"] == ["L", "M", "Q", "H"]
    assert all(param["description"] for param in params.values())


def test_the_catalog_holds_the_same_descriptor(api: httpx.Client) -> None:
    (listed,) = (tool for tool in api.get("/tools/api").json()["tools"] if tool["slug"] == "text-file")

    assert listed == api.get("/tools/text-file/api").json()["data"]


def test_the_catalog_states_the_operators_limit(start: Start) -> None:
    host = start(tools={"text-file": {"rate_limit": "7/minute"}})

    assert httpx.get(f"{host.url}/tools/text-file/api").json()["data"]["rateLimit"] == {"requests": 7, "windowSec": 60}


def test_a_disabled_tool_is_hidden_and_refused(start: Start) -> None:
    host = start(tools={"text-file": {"enabled": False}})

    assert "text-file" not in [tool["slug"] for tool in httpx.get(f"{host.url}/tools/api").json()["tools"]]
    assert "text-file" not in httpx.get(f"{host.url}/openapi.json").text
    assert "Text file" not in httpx.get(f"{host.url}/tools").text
    assert "Text file" not in httpx.get(f"{host.url}/llms.txt").text
    assert httpx.get(f"{host.url}/tools/text-file").status_code == 404
    for response in (
        httpx.get(f"{host.url}/tools/text-file/api"),
        httpx.post(f"{host.url}/tools/text-file/api/generate", json={"text": "x"}),
    ):
        assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


def test_a_tool_outside_the_plan_is_hidden_and_refused(start: Start) -> None:
    host = start(builtin_plugins=True, plans={"anonymous": {"tools": ["qr-*"]}})

    assert [tool["slug"] for tool in httpx.get(f"{host.url}/tools/api").json()["tools"]] == ["qr-code-generator"]
    assert httpx.post(f"{host.url}/tools/text-file/api/generate", json={"text": "x"}).status_code == 404


def test_the_brand_key_comes_from_the_operator(start: Start) -> None:
    host = start(branding={"key": "acme", "name": "Acme", "url": "https://acme.example"})

    ok = httpx.post(f"{host.url}/tools/text-file/api/generate", json={"text": "x"}).json()
    bad = httpx.post(f"{host.url}/tools/text-file/api/generate", json={}).json()
    catalog, tool = (httpx.get(f"{host.url}{path}").json() for path in ("/tools/api", "/tools/text-file/api"))

    for body in (ok, bad, catalog, tool):
        assert body["acme"]["name"] == "Acme"
        assert body["acme"]["url"] == "https://acme.example"
        assert "pressroom" not in body


def test_openapi_is_valid_and_covers_every_status(api: httpx.Client) -> None:
    document = api.get("/openapi.json").json()

    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    operation = document["paths"]["/tools/qr-code-generator/api/generate"]["post"]
    assert set(operation["responses"]) == {"200", "400", "404", "405", "413", "415", "429", "500", "503"}
    schema = document["components"]["schemas"]["QrCodeGenerator"]
    assert schema["required"] == ["text"]
    assert schema["additionalProperties"] is False
    assert (schema["properties"]["size"]["minimum"], schema["properties"]["size"]["maximum"]) == (64, 2048)
    assert len(operation["requestBody"]["content"]["application/json"]["examples"]) >= 3


def test_the_examples_of_openapi_work_and_match_its_schemas(api: httpx.Client) -> None:
    document = api.get("/openapi.json").json()

    def matches(schema: dict[str, Any], value: Any) -> None:
        Draft202012Validator({**schema, "components": document["components"]}).validate(value)

    for path, operations in document["paths"].items():
        if path.endswith("/image"):
            continue  # its parameters are in the URL that the endpoint above returns
        if "post" not in operations:
            schema = operations["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            matches(schema, api.get(path).json())
            continue
        operation = operations["post"]
        content = operation["requestBody"]["content"]["application/json"]
        success = operation["responses"]["200"]["content"]["application/json"]["schema"]
        for example in content["examples"].values():
            matches(content["schema"], example["value"])
            if "gate" not in path:
                response = api.post(path, json=example["value"])
                assert response.status_code == 200, response.text
                matches(success, response.json())
        failure = document["components"]["responses"]["InvalidInput"]["content"]["application/json"]
        matches(failure["schema"], api.post(path, json={}).json())
        matches(failure["schema"], failure["example"])


def test_openapi_has_the_permanent_urls_of_images_alone(api: httpx.Client, start: Start) -> None:
    paths = api.get("/openapi.json").json()["paths"]
    assert {"/tools/qr-code-generator/link", "/tools/qr-code-generator/image"} <= set(paths)
    assert "/tools/text-file/link" not in paths
    image = paths["/tools/qr-code-generator/image"]["get"]
    assert set(image["responses"]["200"]["content"]) == {"image/png", "image/svg+xml"}
    assert set(image["responses"]) == {"200", "304", "400", "403", "404", "405", "429", "500", "503"}
    assert {"400", "403"} <= paths["/tools/qr-code-generator/link"]["post"]["responses"].keys()
    url = httpx.URL(api.post("/tools/qr-code-generator/link", json={"text": "permanent"}).json()["data"]["url"])
    assert [parameter["name"] for parameter in image["parameters"]] == list(url.params)
    without_links = start(image_links={"enabled": False})
    assert not [
        path for path in httpx.get(f"{without_links.url}/openapi.json").json()["paths"] if path.endswith("/link")
    ]


def test_the_text_index_follows_its_convention(api: httpx.Client) -> None:
    response = api.get("/llms.txt")

    assert response.headers["content-type"].startswith("text/plain")
    lines = response.text.splitlines()
    assert lines[0] == "# Pressroom"
    assert lines[2].startswith("> ")
    assert [line for line in lines if line.startswith("## ")] == ["## Docs", "## Tools", "## API"]
    assert any(line.startswith(f"- [QR code generator]({api.base_url}") for line in lines)
    assert "quiet zone" in api.get("/llms-full.txt").text.lower() or len(api.get("/llms-full.txt").text) > len(
        response.text
    )


def test_pages_of_tools_are_available_as_markdown(api: httpx.Client) -> None:
    index = api.get("/tools.md")
    assert index.headers["content-type"] == "text/markdown; charset=utf-8"
    links = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): \S", index.text, re.MULTILINE)
    assert len(links) == len(api.get("/tools/api").json()["tools"])
    for link in links:
        page = api.get(link)
        assert page.headers["content-type"] == "text/markdown; charset=utf-8"
        slug = link.rpartition("/")[2].removesuffix(".md")
        assert f"`POST {api.base_url.scheme}://" in page.text
        assert f"/tools/{slug}/api/generate` with a JSON object." in page.text
        [example] = re.findall(r"```json\n(.*?)\n```", page.text, re.DOTALL)
        assert api.post(f"/tools/{slug}/api/generate", json=json.loads(example)).status_code == 200
        for param in api.get(f"/tools/{slug}/api").json()["data"]["endpoints"][0]["params"]:
            assert f"- `{param['name']}` (" in page.text
    assert api.get("/tools/nothing.md").status_code == 404


async def test_the_first_readers_of_a_page_get_the_same_page_as_the_next(tmp_path: Path) -> None:
    with RunningHost(settings_for_test({}, tmp_path)) as host:
        async with httpx.AsyncClient(base_url=host.url) as client:
            for path in ("/tools", "/tools/qr-code-generator"):
                first = await asyncio.gather(*(client.get(path) for _ in range(5)))
                last = await client.get(path)
                assert last.status_code == 200
                assert {response.content for response in first} == {last.content}
