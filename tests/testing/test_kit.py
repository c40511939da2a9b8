"""The kit for plugin authors: accounts, signed-in browsers, immediate jobs, and misbehaving websites."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from pressroom.sdk import HttpResponse
from pressroom.testing import FakeSite, RunningHost, SiteRequest, fake_site, settings_for_test
from support.third_party import write_plugin

SOURCE = '''
from pressroom.sdk import *
from pydantic import BaseModel

PLUGIN = Plugin(id="{id}", api="1", title="Kit", summary="What the kit is tried on.")


class Nothing(Params):
    pass


class Who(BaseModel):
    subject: str


@mcp_tool(name="who_am_i", title="Who am I", description="Returns the account of the caller.")
async def who_am_i(params: Nothing, call: Call) -> Who:
    return Who(subject=call.caller.subject)


@hookimpl
def pressroom_mcp_tools():
    return [who_am_i]


async def page(request):
    said = request.body.decode().partition("word=")[2] or request.subject
    return HttpResponse(f"""<p>{said}</p><form method="post" action="/elsewhere"></form>
        <form method="post" action="/dashboard/kit"><input type="hidden" name="csrf" value="{request.csrf_token}">
        <input name="word"></form>""".encode())


@hookimpl
def pressroom_routes():
    return [Route("/dashboard/kit", page, ("GET", "POST"), page=DashboardPage("Kit"))]


async def double(run):
    if run.payload["number"] < 0:
        raise InvalidInput("number", "must not be negative")
    return {"double": 2 * run.payload["number"], "subject": run.subject}


async def wait(run):
    return Pause(1000)


@hookimpl
def pressroom_jobs():
    return [Job("{id}.double", double, attempts=1), Job("{id}.wait", wait)]
'''


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningHost, str]]:
    folder = tmp_path_factory.mktemp("kit")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        id_ = write_plugin(folder, SOURCE)
        config = {"plugins": {id_: {}}, "builtin_plugins": False}
        with RunningHost(settings_for_test(config, folder / "data")) as running:
            yield running, id_


def test_accounts_are_separate(host: tuple[RunningHost, str]) -> None:
    running, _ = host
    first, second = running.account(), running.account("grace@example.org")
    assert first is running.account()
    assert first.id != second.id
    assert running.call_tool("who_am_i") == first.call_tool("who_am_i") == {"subject": first.id}
    assert second.call_tool("who_am_i") == {"subject": second.id}
    assert second.api_key() == second.api_key() != first.api_key()


def test_a_signed_in_browser_reads_pages_and_submits_forms(host: tuple[RunningHost, str]) -> None:
    account = host[0].account()
    with account.browser() as browser:
        assert account.id in browser.get("/dashboard/kit").text
        response = browser.submit("/dashboard/kit", {"word": "tea"}, action="/dashboard/kit")
        assert response.status_code == 200
        assert "<p>tea" in response.text
        with pytest.raises(LookupError, match="no form that is posted to /nowhere"):
            browser.submit("/dashboard/kit", action="/nowhere")


def test_a_job_runs_immediately(host: tuple[RunningHost, str]) -> None:
    running, id_ = host
    status = running.run_job(f"{id_}.double", {"number": 21}, subject="u_1")
    assert (status.state, status.result) == ("succeeded", {"double": 42, "subject": "u_1"})
    failed = running.run_job(f"{id_}.double", {"number": -1})
    assert (failed.state, failed.message) == ("failed", "number: must not be negative")
    with pytest.raises(KeyError):
        running.run_job("no.such")
    with pytest.raises(TimeoutError):
        running.run_job(f"{id_}.wait", seconds=0.5)


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with fake_site() as running:
        yield running


def test_a_fake_site_responds_and_records_its_requests(site: FakeSite) -> None:
    site.json("POST /api/posts", {"id": 7}, status=201)
    site.responses["PUT /echo"] = lambda request: HttpResponse(request.body, 200, "text/plain")
    posted = httpx.post(f"{site.url}/api/posts?draft=1", json={"title": "Tea"}, headers={"X-Key": "k"})
    assert (posted.status_code, posted.json()) == (201, {"id": 7})
    assert httpx.put(f"{site.url}/echo", content=b"tea").text == "tea"
    assert httpx.get(f"{site.url}/nowhere").status_code == 404
    first = site.requests[0]
    assert (first.method, first.path, first.json(), first.headers["x-key"]) == (
        "POST",
        "/api/posts?draft=1",
        {"title": "Tea"},
        "k",
    )


def test_a_fake_site_misbehaves(site: FakeSite) -> None:
    requests: list[SiteRequest] = []

    def do(request: SiteRequest) -> HttpResponse:
        requests.append(request)
        return HttpResponse(b"done")

    site.responses["POST /do"] = do
    site.trouble_once = "lost response"
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.post(f"{site.url}/do")
    assert len(requests) == 1
    assert httpx.post(f"{site.url}/do").text == "done"
    site.trouble = "cut"
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.post(f"{site.url}/do")
    assert len(requests) == 2
    site.trouble = "html"
    assert httpx.post(f"{site.url}/do").headers["content-type"].startswith("text/html")
    for trouble, status in (("error", 500), ("busy", 429)):
        site.trouble = trouble  # type: ignore[assignment] # one of its values
        assert httpx.post(f"{site.url}/do").status_code == status
    site.trouble = "hang"
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{site.url}/do", timeout=0.2)
