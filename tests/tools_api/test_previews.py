"""Page previews: real requests, their limits, and what they leave behind."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

import httpx
import pytest
from PIL import Image
from pressroom.testing import RunningHost
from selectolax.lexbor import LexborHTMLParser
from support.http_fixtures import Start

Client = Callable[[RunningHost], httpx.Client]

QR = "/tools/qr-code-generator"
PAGE = {"X-Preview-Page": "one"}


def test_a_preview_is_the_image_with_its_description(api: httpx.Client) -> None:
    response = api.post(f"{QR}/preview", json={"text": "hi", "size": 300})
    assert response.status_code == 200
    assert Image.open(io.BytesIO(response.content)).size == (300, 300)
    assert json.loads(response.headers["x-details"])["size"] == 300
    assert response.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in response.headers
    generated = api.post(f"{QR}/api/generate", json={"text": "hi", "size": 300, "response": "binary"})
    assert generated.content == response.content


def test_pages_name_the_detected_language_and_the_api_has_its_id(api: httpx.Client) -> None:
    code = {"code": "#include <vector>\nstd::vector<int> none;", "language": "auto"}
    previewed = api.post("/tools/code-to-image/preview", json=code)
    assert json.loads(previewed.headers["x-details"])["language"] == "C++"
    response = api.post("/tools/code-to-image", data=code)
    assert "Language C++" in LexborHTMLParser(response.text).css("#facts")[0].text()
    assert api.post("/tools/code-to-image/api/generate", json=code).json()["data"]["language"] == "cpp"


def test_a_preview_lists_where_its_text_can_be_edited(api: httpx.Client) -> None:
    response = api.post("/tools/code-to-image/preview", json={"code": "a\nb", "scale": 4, "padding": 20})
    editable = json.loads(response.headers["x-editable-text"])
    assert (editable["param"], editable["rows"], editable["imageWidth"]) == ("code", 2, 900)
    assert editable["imageWidth"] == Image.open(io.BytesIO(response.content)).width
    assert "x-editable-text" not in api.post(f"{QR}/preview", json={"text": "hi"}).headers


def test_a_file_other_than_an_image_is_previewed_by_its_image(api: httpx.Client) -> None:
    response = api.post("/tools/favicon-generator/preview", json={"content": "P"})
    assert Image.open(io.BytesIO(response.content)).size == (228, 180)


def test_a_preview_for_a_page_without_javascript_is_confirmed_by_its_tag(api: httpx.Client) -> None:
    url = f"{QR}/preview?text=hi&size=300&_mode=0&unknown=1"
    response = api.get(url)
    assert Image.open(io.BytesIO(response.content)).size == (300, 300)
    assert api.get(url, headers={"If-None-Match": response.headers["etag"]}).status_code == 304


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"text": "hi", "size": 9}, 400, "validation_error"),
        ({}, 400, "validation_error"),
        ({"text": "hi", "nonsense": 1}, 400, "validation_error"),
    ],
)
def test_a_refusal_names_the_parameter_as_the_api_does(
    api: httpx.Client, body: dict[str, object], status: int, code: str
) -> None:
    response = api.post(f"{QR}/preview", json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert response.json()["error"] == api.post(f"{QR}/api/generate", json=body).json()["error"]


def test_other_requests_are_refused(api: httpx.Client) -> None:
    assert api.post("/tools/none-such/preview", json={}).status_code == 404
    assert api.post(f"{QR}/preview", content=b"x").status_code == 415
    assert api.post("/tools/text-file/preview", json={"text": "x"}).status_code == 404
    embedded = api.get(f"{QR}/preview?text=hi", headers={"Sec-Fetch-Site": "cross-site"})
    assert (embedded.status_code, embedded.json()["error"]["code"]) == (403, "forbidden")


def test_previews_have_their_own_budget(start: Start, client: Client) -> None:
    host = start(
        builtin_plugins=True, previews={"rate_limit": "3/hour"}, tools={"qr-code-generator": {"rate_limit": "2/hour"}}
    )
    http = client(host)
    responses = [http.post(f"{QR}/preview", json={"text": str(number)}) for number in range(4)]
    assert [response.status_code for response in responses] == [200, 200, 200, 429]
    assert [response.headers["ratelimit-remaining"] for response in responses] == ["2", "1", "0", "0"]
    assert 0 < int(responses[3].headers["retry-after"]) <= 3600
    assert responses[3].json()["error"]["code"] == "rate_limited"
    generated = http.post(f"{QR}/api/generate", json={"text": "0"})
    assert generated.json()["meta"]["rateLimit"]["remaining"] == 1
    assert generated.json()["data"]["cached"] is False


def test_previews_leave_nothing_behind(start: Start, client: Client, tmp_path: Path) -> None:
    http = client(start(builtin_plugins=True))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    for number in range(5):
        assert http.post(f"{QR}/preview", json={"text": str(number)}).status_code == 200
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
    assert http.post(f"{QR}/api/generate", json={"text": "0"}).json()["data"]["cached"] is False


def test_a_large_image_is_downscaled(start: Start, client: Client) -> None:
    http = client(start(builtin_plugins=True, previews={"max_pixels": 65_536}))
    response = http.post(f"{QR}/preview", json={"text": "hi", "size": 2048})
    width, height = Image.open(io.BytesIO(response.content)).size
    assert width * height <= 65_536
    assert json.loads(response.headers["x-details"])["size"] == 2048


def test_a_page_has_one_preview_at_a_time_and_real_calls_overtake_it(
    start: Start, client: Client, tmp_path: Path
) -> None:
    http = client(start(builtin_plugins=True, executors={"processes": 2, "threads": 2}))
    gate, log = tmp_path / "gate", tmp_path / "log"
    body = {"gate": str(gate), "log": str(log)}

    def ask() -> httpx.Response:
        return http.post("/tools/gate/preview", json=body, headers=PAGE)

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(ask)
        while not log.exists():
            assert not wait([first], timeout=0.01).done
        previews: list[Future[httpx.Response]] = [pool.submit(ask), pool.submit(ask)]
        superseded = wait(previews, return_when=FIRST_COMPLETED).done.pop().result()
        assert (superseded.status_code, superseded.headers["retry-after"]) == (503, "1")
        assert "newer" in superseded.json()["error"]["message"]
        assert http.post(f"{QR}/api/generate", json={"text": "hi"}).status_code == 200
        gate.touch()
        assert first.result().status_code == 404  # it generates text
    assert len(log.read_text().splitlines()) == 2
