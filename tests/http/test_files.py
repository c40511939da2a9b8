"""Signed URLs of the embedded file store."""

import re
import time

import httpx
import pytest
from pressroom.testing import RunningHost

TEXT = "/tools/text-file/api/generate"
CONTENT = "0123456789" * 5


@pytest.fixture
def url(api: httpx.Client) -> str:
    file_url: str = api.post(TEXT, json={"text": CONTENT}).json()["data"]["url"]
    return file_url


def test_the_url_has_the_documented_form(url: str, shared_host: RunningHost) -> None:
    pattern = (
        rf"{re.escape(shared_host.url)}/files/text-file/[0-9a-f]{{32}}\.txt\?expires=\d{{10}}&signature=[\w-]{{43}}"
    )
    assert re.fullmatch(pattern, url)


def test_get_and_head_agree(api: httpx.Client, url: str) -> None:
    response, head = api.get(url), api.head(url)

    assert response.text == CONTENT
    assert head.content == b""
    for name in ("content-length", "content-type", "etag", "content-disposition", "accept-ranges", "last-modified"):
        assert response.headers[name] == head.headers[name], name
    assert head.headers["content-length"] == str(len(CONTENT))
    assert re.fullmatch(r'"[0-9a-f]{32}"', response.headers["etag"])
    assert re.fullmatch(r'inline; filename="[0-9a-f]{32}\.txt"', response.headers["content-disposition"])


def test_a_known_etag_gives_304(api: httpx.Client, url: str) -> None:
    etag = api.get(url).headers["etag"]

    for header in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        response = api.get(url, headers={"if-none-match": header})
        assert (response.status_code, response.content) == (304, b""), header
    assert api.get(url, headers={"if-none-match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    ("header", "status", "content", "content_range"),
    [
        ("bytes=0-0", 206, "0", "bytes 0-0/50"),
        ("bytes=10-19", 206, "0123456789", "bytes 10-19/50"),
        ("bytes=45-", 206, "56789", "bytes 45-49/50"),
        ("bytes=45-999", 206, "56789", "bytes 45-49/50"),
        ("bytes=-3", 206, "789", "bytes 47-49/50"),
        ("bytes=-999", 206, CONTENT, "bytes 0-49/50"),
        ("bytes=50-", 416, None, "bytes */50"),
        ("bytes=20-10", 416, None, "bytes */50"),
        ("bytes=-0", 416, None, "bytes */50"),
        ("bytes=0-1,5-6", 200, CONTENT, None),
        ("lines=1-2", 200, CONTENT, None),
        ("bytes=a-b", 200, CONTENT, None),
        ("bytes=-", 200, CONTENT, None),
    ],
)
def test_ranges(
    api: httpx.Client, url: str, header: str, status: int, content: str | None, content_range: str | None
) -> None:
    response = api.get(url, headers={"range": header})

    assert response.status_code == status
    assert response.headers.get("content-range") == content_range
    if content is not None:
        assert response.text == content


def test_if_range_with_another_etag_returns_the_complete_file(api: httpx.Client, url: str) -> None:
    assert api.get(url, headers={"range": "bytes=0-1", "if-range": '"old"'}).status_code == 200
    etag = api.get(url).headers["etag"]
    assert api.get(url, headers={"range": "bytes=0-1", "if-range": etag}).status_code == 206


def altered(url: str) -> list[str]:
    base, query = url.split("?")
    extended = re.sub(r"expires=(\d+)", lambda match: f"expires={int(match[1]) + 1}", query)
    return [
        base,
        f"{base}?{extended}",
        f"{url}x",
        f"{url[:-1]}",
        f"{base}?{query.split('&')[0]}",
        f"{base}?{query.split('&')[1]}",
        re.sub(r"/[0-9a-f]{32}\.", "/" + "0" * 32 + ".", url),
        url.replace("/text-file/", "/qr-code-generator/"),
        url.replace(".txt", ".png"),
        url.replace("/files/", "/files/..%2f"),
        f"{base}?expires=&signature=",
        f"{base}?expires=9999999999&signature={'A' * 43}",
        f"{base}?expires=%00&signature=%ff",
    ]


def test_an_altered_url_is_forbidden_whether_or_not_the_file_exists(api: httpx.Client, url: str) -> None:
    by_status = {api.get(altered_url).status_code: altered_url for altered_url in altered(url)}

    assert set(by_status) <= {403, 404}
    assert {api.get(altered_url).text for altered_url in altered(url) if "%2f" not in altered_url} == {
        api.get(altered(url)[0]).text
    }


def test_an_expired_url_is_gone_whether_or_not_the_file_exists(
    api: httpx.Client, shared_host: RunningHost, url: str
) -> None:
    store = shared_host.host.services.files
    path = re.sub(r"^http://[^/]+|\?.*$", "", url)
    missing = re.sub(r"[0-9a-f]{32}", "0" * 32, path)
    signer = store.signer  # type: ignore[attr-defined]  # the embedded store
    now = int(time.time())

    responses = [api.get(f"{url_path}?{signer.sign(url_path, now - 1)}") for url_path in (path, missing)]

    assert [response.status_code for response in responses] == [410, 410]
    assert responses[0].text == responses[1].text


def test_files_may_be_read_by_any_web_page_and_are_sandboxed(api: httpx.Client, url: str) -> None:
    headers = api.get(url).headers

    assert headers["access-control-allow-origin"] == "*"
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]


def test_other_methods_are_refused(api: httpx.Client, url: str) -> None:
    for method in ("POST", "PUT", "DELETE"):
        response = api.request(method, url)
        assert response.status_code == 405
        assert "GET" in response.headers["allow"]
