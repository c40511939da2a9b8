"""A successful call from a client's view (interface contract, sections 2.6 to 2.8 and 4.3)."""

import re
from datetime import UTC, datetime, timedelta

import httpx

QR = "/tools/qr-code-generator/api/generate"
TEXT = "/tools/text-file/api/generate"
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z")


def moment(text: str) -> datetime:
    assert ISO.fullmatch(text)
    return datetime.fromisoformat(text)


def test_the_envelope_has_every_field_of_the_contract(api: httpx.Client) -> None:
    response = api.post(QR, json={"text": "https://example.com/envelope"})

    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert set(body) == {"ok", "data", "meta", "pressroom"}
    assert body["ok"] is True
    assert set(body["data"]) == {"id", "url", "expiresAt", "cached", "size", "format"}
    assert re.fullmatch(r"[0-9a-f]{32}", body["data"]["id"])
    assert (body["data"]["size"], body["data"]["format"], body["data"]["cached"]) == (512, "png", False)
    assert set(body["meta"]) == {"tool", "endpoint", "version", "cached", "timestamp", "rateLimit"}
    assert body["meta"] | {"timestamp": 0, "rateLimit": 0} == {
        "tool": "qr-code-generator",
        "endpoint": "/generate",
        "version": "1.0",
        "cached": False,
        "timestamp": 0,
        "rateLimit": 0,
    }
    assert abs(moment(body["meta"]["timestamp"]) - datetime.now(UTC)) < timedelta(minutes=1)
    assert set(body["meta"]["rateLimit"]) == {"limit", "remaining", "resetAt"}
    assert set(body["pressroom"]) == {"name", "tagline", "url", "mcpUrl", "docsUrl"}


def test_the_url_is_valid_for_three_hours_and_returns_the_file(api: httpx.Client) -> None:
    data = api.post(QR, json={"text": "three hours"}).json()["data"]

    lifetime = moment(data["expiresAt"]) - datetime.now(UTC)
    assert timedelta(hours=3) - timedelta(minutes=1) < lifetime <= timedelta(hours=3)
    file = api.get(data["url"])
    assert file.status_code == 200
    assert file.headers["content-type"] == "image/png"
    assert file.content.startswith(b"\x89PNG\r\n\x1a\n")


def test_binary_returns_the_bytes_with_their_headers(api: httpx.Client) -> None:
    url = api.post(QR, json={"text": "bytes"}).json()["data"]
    response = api.post(QR, json={"text": "bytes", "response": "binary"})

    assert response.status_code == 200
    assert response.headers["content-type"] == "image/png"
    assert response.headers["content-length"] == str(len(response.content))
    assert response.headers["etag"] == f'"{url["id"]}"'
    assert response.headers["x-cache"] == "HIT"
    assert response.headers["content-disposition"] == 'inline; filename="qr-code-generator.png"'
    assert response.content == api.get(url["url"]).content


def test_binary_that_was_rendered_now_is_a_miss(api: httpx.Client) -> None:
    response = api.post(QR, json={"text": "never seen before", "response": "binary"})

    assert response.headers["x-cache"] == "MISS"


def test_svg_is_served_as_svg_and_cannot_run_scripts(api: httpx.Client) -> None:
    response = api.post(QR, json={"text": "svg", "format": "svg", "response": "binary"})

    assert response.headers["content-type"] == "image/svg+xml"
    assert "sandbox" in response.headers["content-security-policy"]
    assert response.headers["x-content-type-options"] == "nosniff"


def test_equal_requests_have_one_id_however_they_are_written(api: httpx.Client) -> None:
    bodies = [
        b'{"text":"same"}',
        b'{"text":"same","size":512}',
        b'{"size":512.0,"text":"same","margin":2.0}',
        b'{"fgColor":"000","text":"same","errorCorrection":"M","response":"url"}',
        b'{"text":"\\u0073ame","bgColor":"#FFF"}',
    ]
    responses = [api.post(QR, content=body, headers={"content-type": "application/json"}).json() for body in bodies]

    assert len({response["data"]["id"] for response in responses}) == 1
    assert [response["data"]["cached"] for response in responses] == [False, True, True, True, True]
    assert [response["meta"]["cached"] for response in responses] == [False, True, True, True, True]


def test_different_requests_have_different_ids(api: httpx.Client) -> None:
    bodies = [{"text": "a"}, {"text": "A"}, {"text": "a", "size": 513}, {"text": "a", "format": "svg"}]

    ids = {api.post(QR, json=body).json()["data"]["id"] for body in bodies}

    assert len(ids) == len(bodies)


def test_a_tools_own_details_are_in_the_data(api: httpx.Client) -> None:
    assert api.post(TEXT, json={"text": "hello"}).json()["data"]["length"] == 5


def test_json_by_another_name_is_accepted(api: httpx.Client) -> None:
    for media_type in ("application/json; charset=utf-8", "Application/JSON", "application/vnd.api+json"):
        response = api.post(TEXT, content=b'{"text":"x"}', headers={"content-type": media_type})
        assert response.status_code == 200, media_type
