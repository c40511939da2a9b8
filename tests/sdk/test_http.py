"""Requests and responses of plugins' own routes."""

from typing import Any

import pytest
from pressroom.sdk import HttpRequest, HttpResponse, InvalidInput

FORM = "application/x-www-form-urlencoded"


def posted(body: bytes, media_type: str = FORM) -> HttpRequest:
    return HttpRequest("POST", "/x", {}, {"content-type": media_type}, body, "127.0.0.1", "r")


def test_a_form_has_its_fields_and_all_their_values() -> None:
    request = posted(b"title=%C3%89t%C3%A9+1&tag=a&tag=b&empty=", f"{FORM}; charset=UTF-8")
    assert request.form == {"title": "Été 1", "tag": "b", "empty": ""}
    assert request.form_values("tag") == ("a", "b")
    assert request.form_values("none") == ()


@pytest.mark.parametrize("media_type", ["", "application/json", "multipart/form-data; boundary=x"])
def test_a_body_of_another_type_is_not_a_form(media_type: str) -> None:
    assert posted(b"a=1", media_type).form == {}


@pytest.mark.parametrize("body", [b"a=%FF", b"\xff", b"&".join([b"a=1"] * 1001)])
def test_a_malformed_form_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidInput, match="not UTF-8, or has more than 1000 fields"):
        _ = posted(body).form


@pytest.mark.parametrize("url", ["/", "/dashboard/books?page=2#x", "https://example.org", "http://example.org/a"])
def test_a_redirect_leads_to_a_path_or_a_url(url: str) -> None:
    response = HttpResponse.redirect(url)
    assert (response.status, response.headers, response.body) == (303, {"Location": url}, b"")
    assert HttpResponse.redirect(url, 308).status == 308


@pytest.mark.parametrize(
    "url",
    [
        "",
        "books",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "https://",
        "https:///x",
        "/a\r\nX: y",
        "/é",
    ],
)
def test_other_redirect_targets_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is neither a path"):
        HttpResponse.redirect(url)


def test_a_subclass_redirects_as_itself() -> None:
    class Own(HttpResponse):
        pass

    response: Any = Own.redirect("/x")
    assert type(response) is Own
