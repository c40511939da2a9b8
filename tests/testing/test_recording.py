"""Plugins' fetches are recorded without secrets and replayed offline; unrecorded requests fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from pressroom.sdk import FetchFailed, FetchRefused, HttpResponse
from pressroom.testing import FakeSite, RunningHost, UnrecordedRequest, fake_site, recorded_http, settings_for_test

KEY = "sk_live_0123456789abcdef"
PATH_SECRET = "hook-9f8e7d6c"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"builtin_plugins": False, "fetch": {"private_networks": ["127.0.0.0/8"]}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("recording"))) as running:
        yield running


@pytest.fixture
def service() -> Iterator[FakeSite]:
    with fake_site() as site:
        site.json("GET /posts", {"posts": ["bread"], "access_token": KEY})
        echo = {"you_sent": KEY, "session": {"refresh_token": "rt-4711-4711"}}
        site.responses["POST /posts"] = HttpResponse(
            json.dumps(echo).encode(), 201, "application/json", {"Set-Cookie": "session=c00kie-c00kie"}
        )
        site.responses["GET /image.png"] = HttpResponse(b"\x89PNG\xff\x00", 200, "image/png")
        yield site


async def ask(server: RunningHost, url: str) -> list[Any]:
    """Send requests to a service as a plugin does; return the responses."""
    fetcher = server.host.compiled.plugins.services.fetcher
    headers = {"Authorization": f"Bearer {KEY}", "X-Anything": "held back", "Content-Type": "application/json"}
    first = await fetcher.get(f"{url}/posts?q=a&key={KEY}", accept="application/json", max_bytes=999, seconds=9)
    second = await fetcher.request(
        "POST", f"{url}/posts", headers=headers, content=b'{"password": "hunter2hunter2"}', max_bytes=999, seconds=9
    )
    third = await fetcher.get(f"{url}/image.png", accept="image/png", max_bytes=999, seconds=9)
    fourth = await fetcher.exchange(f"{url}/{PATH_SECRET}/none", accept="*/*", max_bytes=999, seconds=9)
    return [
        (first.status, json.loads(first.content)["posts"]),
        (second.status, second.media_type),
        (third.media_type, third.content),
        (fourth.status, fourth.content),
    ]


def test_recorded_requests_are_replayed_without_the_service(
    server: RunningHost, service: FakeSite, tmp_path: Path
) -> None:
    file = tmp_path / "recorded" / "posts.json"
    with recorded_http(server, file, recording=True, secrets=[PATH_SECRET]):
        live = server.run(ask(server, service.url))
    request_count = len(service.requests)

    with recorded_http(server, file, secrets=[PATH_SECRET]):
        replayed = server.run(ask(server, service.url))

    assert live == replayed
    assert len(service.requests) == request_count == 4


def test_the_file_contains_no_secret(server: RunningHost, service: FakeSite, tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    with recorded_http(server, file, recording=True, secrets=[PATH_SECRET]):
        server.run(ask(server, service.url))

    text = file.read_text()
    for secret in (KEY, PATH_SECRET, "hunter2", "c00kie", "rt-4711", "held back"):
        assert secret not in text
    assert "bread" in text
    assert "q=a" in text


FORM = "application/x-www-form-urlencoded"


async def sign_in(server: RunningHost, url: str) -> tuple[str, str, bytes]:
    """Ask for a token as OAuth clients do; return the redirect, the link and the form that came back."""
    fetcher = server.host.compiled.plugins.services.fetcher
    fields = {"grant_type": "refresh_token", "client_secret": "sesame/sesame", "refresh_token": "rt-4711-4711"}
    headers = {"Content-Type": f"{FORM}; charset=utf-8"}
    content = urlencode(fields).encode()
    moved = await fetcher.request("POST", f"{url}/sign-in", headers=headers, content=content, max_bytes=999, seconds=9)
    token_response = await fetcher.request(
        "POST", f"{url}/token", headers=headers, content=content, max_bytes=999, seconds=9
    )
    return moved.headers["location"], moved.headers["link"], token_response.content


def test_redirects_and_forms_are_recorded_without_secrets(
    server: RunningHost, service: FakeSite, tmp_path: Path
) -> None:
    file = tmp_path / "sign_in.json"
    moved = {
        "Location": f"https://ada:swordfish@example.org/back?state=1&code=c0de-c0de&id_token={KEY}#access_token={KEY}",
        "Content-Location": "/back#top",
        "Link": '<https://example.org/posts?page=2&access_token=at-0815-0815>; rel="next"',
    }
    service.responses["POST /sign-in"] = HttpResponse(b"", 302, "text/plain", moved)
    service.responses["POST /token"] = HttpResponse(b"access_token=at-4711-4711&scope=posts", 200, FORM, {})
    with recorded_http(server, file, recording=True):
        assert server.run(sign_in(server, service.url))[2] == b"access_token=at-4711-4711&scope=posts"

    text = file.read_text()
    for secret in ("sesame", "rt-4711", "swordfish", "c0de", KEY, "at-0815", "at-4711"):
        assert secret not in text
    assert "grant_type=refresh_token" in text
    assert "/back#top" in text
    with recorded_http(server, file):
        assert server.run(sign_in(server, service.url)) == (
            "https://example.org/back?state=1&code=***&id_token=***#access_token=***",
            '<https://example.org/posts?page=2&access_token=***>; rel="next"',
            b"access_token=***&scope=posts",
        )


def test_a_redirect_to_an_invalid_url_is_recorded(server: RunningHost, service: FakeSite, tmp_path: Path) -> None:
    service.responses["GET /posts"] = HttpResponse(b"", 302, "text/plain", {"Location": f"https://[/?token={KEY}"})
    file = tmp_path / "posts.json"
    with recorded_http(server, file, recording=True):
        server.run(exchange(server, f"{service.url}/posts"))
    assert KEY not in file.read_text()
    with recorded_http(server, file):
        assert server.run(exchange(server, f"{service.url}/posts")) == "https://[/?token=***"


async def exchange(server: RunningHost, url: str) -> str:
    fetcher = server.host.compiled.plugins.services.fetcher
    response = await fetcher.exchange(url, accept="*/*", max_bytes=999, seconds=9)
    return dict(response.headers)["location"]


def test_an_unrecorded_request_is_named(server: RunningHost, service: FakeSite, tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    with recorded_http(server, file, recording=True):
        server.run(get(server, f"{service.url}/posts"))

    with pytest.raises(UnrecordedRequest) as failure, recorded_http(server, file), pytest.raises(UnrecordedRequest):
        server.run(get(server, f"{service.url}/other?token={KEY}"))
        # A plugin may treat it as an error of the service; the test fails nevertheless.

    message = str(failure.value)
    assert f"not on record in {file}: GET {service.url}/other?token=***" in message
    assert f"still on record: GET {service.url}/posts" in message
    assert "PRESSROOM_TEST_RECORD=1 python -m pytest" in message


def test_each_result_is_returned_once(server: RunningHost, service: FakeSite, tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    with recorded_http(server, file, recording=True):
        server.run(get(server, f"{service.url}/posts"))
        service.json("GET /posts", {"posts": []})
        server.run(get(server, f"{service.url}/posts"))

    with pytest.raises(UnrecordedRequest, match="nothing more is on record"):
        replay_three_times(server, file, f"{service.url}/posts")


def replay_three_times(server: RunningHost, file: Path, url: str) -> None:
    with recorded_http(server, file):
        assert b"bread" in server.run(get(server, url))
        assert b"bread" not in server.run(get(server, url))
        server.run(get(server, url))


def test_errors_are_recorded_too(server: RunningHost, service: FakeSite, tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    with recorded_http(server, file, recording=True):
        service.trouble_once = "cut"
        with pytest.raises(FetchFailed):
            server.run(get(server, f"{service.url}/posts"))
        server.run(get(server, f"{service.url}/image.png"))

    with recorded_http(server, file):
        with pytest.raises(FetchFailed, match="closed the connection early"):
            server.run(get(server, f"{service.url}/posts"))
        with pytest.raises(FetchRefused, match="more than 2 bytes"):
            server.run(get(server, f"{service.url}/image.png", max_bytes=2))


def test_an_invalid_recording_is_refused(server: RunningHost, tmp_path: Path) -> None:
    (tmp_path / "posts.json").write_text("[]")
    with pytest.raises(ValueError, match="not a recording"), recorded_http(server, tmp_path / "posts.json"):
        pass


def test_nothing_is_written_if_the_test_failed(server: RunningHost, service: FakeSite, tmp_path: Path) -> None:
    with pytest.raises(FetchRefused), recorded_http(server, tmp_path / "posts.json", recording=True):
        server.run(get(server, f"{service.url}/posts", max_bytes=2))
    assert not (tmp_path / "posts.json").exists()


async def get(server: RunningHost, url: str, *, max_bytes: int = 999) -> bytes:
    fetcher = server.host.compiled.plugins.services.fetcher
    return (await fetcher.get(url, accept="*/*", max_bytes=max_bytes, seconds=9)).content
