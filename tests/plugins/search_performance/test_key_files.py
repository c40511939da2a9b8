"""IndexNow key files are served from the server's root without shadowing other paths."""

from __future__ import annotations

import httpx
import pytest
from pressroom.testing import RunningHost
from pressroom_search_performance.indexnow import key_of

from .conftest import Site


def test_the_key_of_a_website_is_served(site: Site) -> None:
    key = site.client.host.run(key_of(site.plugin, site.website.id))
    response = httpx.get(f"{site.client.host.url}/{key}.txt")
    assert response.status_code == 200
    assert response.text == key
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert httpx.get(f"{site.client.host.url}/{key.upper()}.txt").status_code == 404


@pytest.mark.parametrize("path", ["/unknown", "/robot.txt", f"/{'0' * 32}", f"/{'0' * 33}.txt", f"/{'g' * 32}.txt"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_a_url_that_is_not_a_key_file_is_not_found(host: RunningHost, method: str, path: str) -> None:
    response = httpx.request(method, host.url + path)
    assert response.status_code == 404
    assert "allow" not in response.headers
    if method != "HEAD":
        assert response.json()["error"] == {"code": "not_found", "message": f"there is nothing at {path}"}


def test_an_unknown_key_gets_the_same_response_as_any_unknown_path(host: RunningHost) -> None:
    path = f"/{'0' * 32}.txt"
    assert httpx.get(host.url + path).status_code == 404
    page = httpx.get(host.url + path, headers={"accept": "text/html"})
    other = httpx.get(f"{host.url}/unknown", headers={"accept": "text/html"})
    assert page.status_code == other.status_code == 404
    assert page.text.replace(path, "/unknown") == other.text
    error = httpx.get(host.url + path).json()["error"]
    assert error == {"code": "not_found", "message": f"there is nothing at {path}"}
