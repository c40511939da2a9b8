"""Hooks for routes and entries of indexes: their effects, and containment of their failures."""

import httpx
import pytest
from pressroom.catalog.reserved_paths import shadowed_host_path
from pressroom.server.app import create_app
from support.shared_hooks import Plugins, Start, code, shout, status_of


def test_hook_routes(plugins: Plugins) -> None:
    source = """
async def page(request):
    SEEN.append(request)
    if request.path_params["name"] == "missing":
        raise NotFound("there is no such page")
    if request.path_params["name"] == "broken":
        raise RuntimeError("the secret ingredient is nutmeg")
    return HttpResponse(request.body or b"<h1>Colophon</h1>", headers={"X-Own": "1"})

@hookimpl
def pressroom_routes():
    return [Route("/colophon/<name>", page), Route("/colophon/<other>", page_by_post, ("POST",))]

async def page_by_post(request):
    return HttpResponse(request.body, 201, "text/plain")
"""
    host = plugins.start(source, server={"trusted_proxies": 1})
    with httpx.Client(base_url=host.url) as http:
        page = http.get("/colophon/a?x=1&x=2", headers={"X-Forwarded-For": "203.0.113.9", "X-Own": "Yes"})
        assert (page.status_code, page.text, page.headers["x-own"]) == (200, "<h1>Colophon</h1>", "1")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.headers["x-content-type-options"] == "nosniff"
        (request,) = plugins.module.SEEN
        assert (request.method, request.path, request.query, request.client_ip) == (
            "GET",
            "/colophon/a",
            {"x": "2"},
            "203.0.113.9",
        )
        assert request.headers["x-own"] == "Yes"
        assert request.request_id == page.headers["x-request-id"]
        assert http.head("/colophon/a").headers["content-length"] == "17"
        response = http.post("/colophon/a", content=b"new")
        assert (response.status_code, response.content) == (201, b"new")
        assert code(http.get("/colophon/missing")) == (404, "not_found")
        assert code(http.get("/colophon/broken")) == (500, "internal_error")
        refused = http.put("/colophon/a")
        assert (code(refused)[0], refused.headers["allow"]) == (405, "GET, HEAD, POST")


@pytest.mark.parametrize(
    "path",
    ["/tools", "/tools/", "/tools/shout", "/tools/<x>/api", "/tools/shout/api/generate", "/", "/metrics", "/llms.txt"],
)
def test_a_route_cannot_take_over_a_path_of_the_host(plugins: Plugins, path: str) -> None:
    source = f"""
async def page(request):
    return HttpResponse(b"taken over")

@hookimpl
def pressroom_routes():
    return [Route({path!r}, page)]
"""
    host = plugins.start(source)

    status, phase, error = status_of(host, plugins.id)
    assert (status, phase) == ("broken", "validate")
    assert "host itself" in error
    assert shout(host).status_code == 404
    assert "shout" not in [tool["slug"] for tool in httpx.get(f"{host.url}/tools/api").json()["tools"]]
    assert httpx.get(host.url + path.replace("<x>", "text-file")).text != "taken over"


def test_hook_index_entries(plugins: Plugins) -> None:
    source = """
async def guides():
    return [IndexEntry("B style", "/guides/style", "how we write", "Be brief."), IndexEntry("A\\nstart", "https://a.example")]

@hookimpl
def pressroom_index_entries():
    return [IndexEntries("Guides", guides), IndexEntries("Articles", guides)]
"""
    host = plugins.start(source)

    lines = httpx.get(f"{host.url}/llms.txt").text.splitlines()
    assert [line for line in lines if line.startswith("## ")] == [
        "## Docs",
        "## Articles",
        "## Tools",
        "## API",
        "## Guides",
    ]
    start = lines.index("## Guides")
    assert lines[start + 2 : start + 4] == [
        "- [A start](https://a.example)",
        f"- [B style]({host.url}/guides/style): how we write",
    ]
    assert "Be brief." in httpx.get(f"{host.url}/llms-full.txt").text
    assert "Be brief." not in "\n".join(lines)


def test_dated_entries_are_first_and_texts_are_only_read_for_the_full_index(plugins: Plugins) -> None:
    source = """
from datetime import UTC, datetime
READ = []

async def read():
    READ.append(1)
    return "The whole text."

async def broken():
    raise RuntimeError("no text")

async def articles():
    return [
        IndexEntry("Undated", "/u"),
        IndexEntry("Old", "/o", published_at=datetime(2020, 1, 1, tzinfo=UTC), read=broken),
        IndexEntry("New", f"/n{len(READ)}", published_at=datetime(2025, 1, 1, tzinfo=UTC), read=read),
    ]

@hookimpl
def pressroom_index_entries():
    return [IndexEntries("Guides", articles)]
"""
    host = plugins.start(source)

    for _ in range(2):
        lines = httpx.get(f"{host.url}/llms.txt").text.splitlines()
        start = lines.index("## Guides")
        assert lines[start + 2 : start + 5] == [
            f"- [New]({host.url}/n0)", f"- [Old]({host.url}/o)", f"- [Undated]({host.url}/u)",
        ]  # fmt: skip
    full = httpx.get(f"{host.url}/llms-full.txt").text
    assert "The whole text." in full
    assert f"- [Undated]({host.url}/u)" in full


@pytest.mark.parametrize("result", ["1 / 0", "None", "['text']", "[IndexEntry(1, '/x')]", "[IndexEntry('a', None)]"])
def test_failing_index_entries_do_not_affect_the_others(plugins: Plugins, result: str) -> None:
    source = f"""
async def broken():
    return {result}

@hookimpl
def pressroom_index_entries():
    return [IndexEntries("Tools", broken)]
"""
    host = plugins.start(source)

    for path in ("/llms.txt", "/llms-full.txt"):
        response = httpx.get(host.url + path)
        assert response.status_code == 200
        assert "- [Shout](" in response.text


def test_plugins_cannot_take_any_path_of_the_host(start: Start) -> None:
    host = start(builtin_plugins=False, metrics={"token": "abcdef"})

    served = {f"/{route.path}".replace(":str>", ">") for route in create_app(host.host).router.routes}

    # A plugin may define these itself.
    replaceable = {"/favicon.ico", "/robots.txt", "/sitemap.xml"}
    assert {path for path in served if shadowed_host_path(path) is None} == replaceable
