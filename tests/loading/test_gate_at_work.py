"""Plugins that hang or raise uncaught exceptions in a running server: others keep working, and the log names them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import httpx
import pytest
from pressroom.cli.diagnosis import diagnose
from pressroom.http.access_form import publishing_targets
from support.faulty_host import RAISED, WORDS, Faulty, call_generator, call_over_mcp, faulty_host, run_job
from support.faulty_plugin import FAULTS
from support.polling import wait_until


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulty]:
    with faulty_host(tmp_path_factory.mktemp("gate")) as faulty:
        yield faulty


def _authenticator(faulty: Faulty, name: str) -> None:
    response = httpx.post(
        f"{faulty.host.url}/tools/sound/api/generate", json={"text": "hello"}, headers={"X-Fault": name}, timeout=30
    )
    assert response.status_code in (500, 503, 504)
    assert "the credential could not be checked" in response.json()["error"]["message"]


def _authorizer(faulty: Faulty, name: str) -> None:
    faulty.fails("authorizer", name)
    assert call_over_mcp(faulty).json()["result"]["isError"]


def _calls(at: str) -> Callable[[Faulty, str], None]:
    def call(faulty: Faulty, name: str) -> None:
        faulty.fails(at, name)
        assert faulty.host.call_tool("victim", {"fault": ""}) == {"fault": ""}
        faulty.host.run(faulty.host.host.pipeline.settle(10))

    return call


def _limit(faulty: Faulty, name: str) -> None:
    faulty.fails("limit", name)
    assert call_over_mcp(faulty).json()["result"]["isError"]


def _index(at: str) -> Callable[[Faulty, str], None]:
    def read(faulty: Faulty, name: str) -> None:
        faulty.fails(at, name)
        response = httpx.get(f"{faulty.host.url}/llms-full.txt", timeout=30)
        assert response.status_code == 200
        assert "## Tools" in response.text

    return read


def _route(path: str) -> Callable[[Faulty, str], None]:
    def ask(faulty: Faulty, name: str) -> None:
        assert httpx.get(f"{faulty.host.url}{path}{name}", timeout=30).status_code == 500

    return ask


def _page(faulty: Faulty, name: str) -> None:
    cookies = faulty.host.account().session_cookies()
    page = httpx.get(f"{faulty.host.url}/dashboard/own?fault={name}", cookies=cookies, timeout=30)
    assert page.status_code == 500
    assert "Something failed" in page.text


def _on_virtual_host(faulty: Faulty, name: str) -> None:
    url = f"{faulty.host.url}/?fault={name}"
    assert httpx.get(url, headers={"Host": "own.example.org"}, timeout=30).status_code == 500


def _hosts(faulty: Faulty, name: str) -> None:
    """The previous names stay in effect, even while the plugin is being queried."""

    def page() -> tuple[int, str]:
        response = httpx.get(f"{faulty.host.url}/?fault=none", headers={"Host": "own.example.org"}, timeout=30)
        return response.status_code, response.text

    wait_until(lambda: page() == (200, "page"))
    before = faulty.failures("virtual hosts")
    faulty.fails("hosts", name)
    assert page() == (200, "page")
    wait_until(lambda: faulty.failures("virtual hosts") > before)


def _prepare(faulty: Faulty, name: str) -> None:
    response = httpx.post(f"{faulty.host.url}/tools/prepared/api/generate", json={"fault": name}, timeout=30)
    assert response.status_code == (503 if name in ("hang", "stubborn") else 500)
    assert response.json()["error"]["message"].startswith("prepared ")


def _targets(faulty: Faulty, name: str) -> None:
    faulty.fails("targets", name)
    contributions = faulty.host.host.compiled.plugins.contributions
    assert faulty.host.run(publishing_targets(contributions, "somebody")) == []


def _section(faulty: Faulty, name: str) -> None:
    faulty.fails("section", name)
    cookies = faulty.host.account().session_cookies()
    page = httpx.get(f"{faulty.host.url}/dashboard", cookies=cookies, timeout=30)
    assert page.status_code == 200
    assert "Latest calls" in page.text
    assert "My work" not in page.text


def _check(faulty: Faulty, name: str) -> None:
    faulty.fails("check", name)
    rows = {row.check: row.result for row in faulty.host.run(diagnose(faulty.host.host.compiled, lambda: None))}
    assert rows["own: own"].status == "error"
    assert WORDS[name] in rows["own: own"].message


def _storage(faulty: Faulty, name: str) -> None:
    faulty.fails("storage", name)
    with pytest.raises(Exception, match=WORDS[name]):
        faulty.host.run(faulty.host.host.accounts.stored.storage("0" * 32))


def _cache(at: str) -> Callable[[Faulty, str], None]:
    def generate(faulty: Faulty, name: str) -> None:
        faulty.fails(at, name)
        response = httpx.post(f"{faulty.host.url}/tools/own/api/generate", json={"text": f"{at} {name}"}, timeout=30)
        assert response.status_code == 200, response.text

    return generate


def _tool(faulty: Faulty, name: str) -> None:
    assert call_over_mcp(faulty, fault=f"tool {name}").json()["result"]["isError"]


POINTS: Final[dict[str, tuple[str, Callable[[Faulty, str], Any], tuple[str, ...]]]] = {
    "authenticator": ("authenticator", _authenticator, FAULTS),
    "authorizer": ("authorizer", _authorizer, FAULTS),
    "observer": ("observer", _calls("observer"), FAULTS),
    "plain_observer": ("observer", _calls("note"), RAISED),
    "limit_key": ("rate limit", _limit, RAISED),
    "index": ("index", _index("index"), FAULTS),
    "text": ("index", _index("text"), FAULTS),
    "route": ("route", _route("/own?fault="), RAISED),
    "before_body": ("route", _route("/before?fault=&before="), RAISED),
    "page": ("route", _page, RAISED),
    "on_virtual_host": ("route", _on_virtual_host, RAISED),
    "hosts": ("virtual hosts", _hosts, FAULTS),
    "generator": ("tool", call_generator, ("unhandled", *RAISED)),
    "prepare": ("tool", _prepare, FAULTS),
    "job": ("job", run_job, FAULTS),
    "targets": ("publishing targets", _targets, FAULTS),
    "section": ("overview section", _section, FAULTS),
    "check": ("check", _check, FAULTS),
    "storage": ("storage", _storage, FAULTS),
    "cache_get": ("backend", _cache("get"), FAULTS),
    "cache_put": ("backend", _cache("put"), FAULTS),
    "tool": ("tool", _tool, ("hang", "close", "unhandled", *RAISED)),
}


@pytest.mark.parametrize(("point", "name"), [(point, name) for point in POINTS for name in POINTS[point][2]])
def test_a_failure_at_work_is_reported_and_affects_no_other_plugin(faulty: Faulty, point: str, name: str) -> None:
    counted_as, fail, _ = POINTS[point]
    before = faulty.failures(counted_as)
    fail(faulty, name)
    assert faulty.failures(counted_as) > before
    assert WORDS[name] in faulty.host.host.compiled.gate.latest["own"].error
    faulty.works()
