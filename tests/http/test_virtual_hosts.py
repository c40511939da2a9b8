"""Virtual hosts of plugins: what they serve, what they do not, and how soon changes take effect."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pressroom.testing import RunningHost
from pressroom.testing.conformance import check_records
from pressroom.testing.plugin import settings_for_test
from support import third_party
from support.polling import wait_until

SECRET = "a secret that the proxy writes"

SOURCE = (
    third_party.HEAD
    + """
CHANGES = ChangeCount()
NAMES = ["blog.example.org", "127.0.0.1", "localhost", "Upper.example.org", "with-port.example.org:80", "nodots"]
FAILS = []


async def names():
    if FAILS:
        FAILS.append("asked")
        raise RuntimeError("the list is lost")
    return [*NAMES]


async def page(request):
    if request.path == "/missing" or request.path.startswith("/pressroom-contract"):
        raise NotFound("there is no such page")
    return HttpResponse(f"{request.method} {request.virtual_host}{request.path}".encode(), media_type="text/plain")


async def everywhere(request):
    return HttpResponse(f"everywhere {request.path_params['name']} {request.virtual_host}".encode())


@hookimpl
def pressroom_virtual_hosts():
    return [VirtualHosts("blogs", names, page, CHANGES)]


@hookimpl
def pressroom_routes():
    return [Route("/everywhere/<name>", everywhere, on_virtual_hosts=True), Route("/only-here", page)]
"""
)


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("plugins")
    sys.path.append(str(folder))
    yield third_party.write_plugin(folder, SOURCE)
    sys.path.remove(str(folder))


@pytest.fixture(scope="module")
def host(plugin: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    folder: Path = tmp_path_factory.mktemp("data")
    with RunningHost(settings_for_test({"builtin_plugins": False, "plugins": {plugin: {}}}, folder)) as running:
        assert not [record for record in running.host.compiled.plugins.failed if record.id == plugin]
        yield running


def ask(
    host: RunningHost, path: str, name: str = "blog.example.org", method: str = "GET", **extra_headers: str
) -> httpx.Response:
    headers = {"Host": name} | {key.replace("_", "-"): value for key, value in extra_headers.items()}
    return httpx.request(method, f"{host.url}{path}", headers=headers, timeout=30)


@pytest.mark.parametrize("name", ["blog.example.org", "BLOG.example.org:8443", "blog.example.org."])
def test_every_spelling_of_a_virtual_host_reaches_the_plugin(host: RunningHost, name: str) -> None:
    assert ask(host, "/any/where?q=1", name).text == "GET blog.example.org/any/where"


@pytest.mark.parametrize(
    "path",
    [
        "/", "/tools", "/dashboard", "/sign-in", "/api/mcp", "/oauth/authorize", "/oauth/register", "/openapi.json",
        "/.well-known/oauth-authorization-server", "/healthz", "/readyz", "/metrics", "/files/a/b", "/only-here",
        "/robots.txt", "/llms.txt",
    ],
)  # fmt: skip
def test_no_server_route_is_on_a_virtual_host(host: RunningHost, path: str) -> None:
    response = ask(host, path)
    assert (response.status_code, response.text) == (200, f"GET blog.example.org{path}")
    assert "set-cookie" not in response.headers
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        refused = ask(host, path, method=method)
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
        assert "set-cookie" not in refused.headers
        assert "www-authenticate" not in refused.headers


def test_style_sheets_and_marked_routes_are_on_virtual_hosts(host: RunningHost) -> None:
    assert ask(host, "/tools/static/pressroom.css").headers["content-type"].startswith("text/css")
    assert ask(host, "/everywhere/x").text == "everywhere x blog.example.org"
    assert ask(host, "/everywhere/x", "other.example.org").text == "everywhere x "
    assert ask(host, "/tools/static/nothing").status_code == 404
    assert ask(host, "/tools/static/nothing").headers["content-type"].startswith("text/plain")


def test_errors_are_plain_and_do_not_identify_the_server(host: RunningHost) -> None:
    response = ask(host, "/missing", Accept="text/html")
    assert (response.status_code, response.text) == (404, "there is no such page\n")
    assert response.headers["x-request-id"]
    assert ask(host, "/x", method="HEAD").content == b""


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "unknown.example.org", "nodots", "with-port.example.org"])
def test_other_host_names_and_the_servers_own_cannot_be_claimed(host: RunningHost, name: str) -> None:
    assert ask(host, "/healthz", name).json() == {"status": "ok"}


def test_a_forwarded_host_from_an_untrusted_peer_is_ignored(host: RunningHost) -> None:
    forged = {"X_Forwarded_Host": "blog.example.org", "Forwarded": "host=blog.example.org"}
    assert ask(host, "/healthz", "unknown.example.org", **forged).json() == {"status": "ok"}
    assert ask(host, "/healthz", "blog.example.org", X_Forwarded_Host="unknown.example.org").text.startswith("GET blog")


def test_a_counted_change_takes_effect_with_the_next_request(host: RunningHost, plugin: str) -> None:
    module = sys.modules[f"{plugin}_module"]
    name = "counted.example.org"
    assert ask(host, "/healthz", name).json() == {"status": "ok"}
    module.NAMES.append(name)
    module.CHANGES.note()
    assert ask(host, "/healthz", name).text == f"GET {name}/healthz"
    module.NAMES.remove(name)
    module.CHANGES.note()
    assert ask(host, "/healthz", name).json() == {"status": "ok"}


def test_a_change_is_detected_and_a_failure_keeps_the_known_hosts(host: RunningHost, plugin: str) -> None:
    module = sys.modules[f"{plugin}_module"]
    module.NAMES.append("new.example.org")
    wait_until(lambda: ask(host, "/x", "new.example.org").text == "GET new.example.org/x")
    module.FAILS.append("asked for")
    wait_until(lambda: ask(host, "/x", "new.example.org").text == "GET new.example.org/x" and len(module.FAILS) > 1)
    assert ask(host, "/x", "new.example.org").text == "GET new.example.org/x"
    module.FAILS.clear()
    module.NAMES.remove("new.example.org")
    wait_until(lambda: ask(host, "/x", "new.example.org").status_code == 404)


def test_an_invalid_virtual_host_is_reported_by_the_contract_check(host: RunningHost, plugin: str) -> None:
    problems = [str(problem) for problem in check_records(host, plugin) if "virtual hosts" in str(problem)]
    assert len(problems) == 1
    assert "Upper.example.org" in problems[0]


def test_a_proxy_with_the_secret_sets_the_host(plugin: str, tmp_path: Path) -> None:
    config = {"builtin_plugins": False, "plugins": {plugin: {}}, "server": {"forwarded_secret": SECRET}}
    with RunningHost(settings_for_test(config, tmp_path)) as host:
        forwarded = f'for=192.0.2.1;host=blog.example.org;secret="{SECRET}"'
        assert ask(host, "/x", "inside.example.org", Forwarded=forwarded).text == "GET blog.example.org/x"
        forged = f'for=192.0.2.1;host=blog.example.org;secret=wrong, for=192.0.2.1;secret="{SECRET}"'
        assert ask(host, "/healthz", "inside.example.org", Forwarded=forged).json() == {"status": "ok"}
