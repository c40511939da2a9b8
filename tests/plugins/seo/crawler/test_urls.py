"""URL normalisation: one spelling for each URL."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pressroom.errors import FetchRefused
from pressroom.fetch import parse_target
from pressroom_seo.urls import MAX_URL_LENGTH, SiteScope, has_session, normalise, shape

BASE = "https://www.example.org/d/e?x=1"


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("", BASE),
        ("#top", BASE),
        ("?", "https://www.example.org/d/e"),
        ("f", "https://www.example.org/d/f"),
        ("/a/./b/../c", "https://www.example.org/a/c"),
        ("//other.example.net", "https://other.example.net/"),
        ("HTTP://EXAMPLE.org:80/", "http://example.org/"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("https://example.org./a", "https://example.org/a"),
        ("https://Bücher.example/ä b", "https://xn--bcher-kva.example/%C3%A4%20b"),
        (" \n/a\tb ", "https://www.example.org/ab"),
        ("\\a\\b", "https://www.example.org/a/b"),
        ("/%7efoo/%41%2f%2F", "https://www.example.org/~foo/A%2F%2F"),
        ("/a?b=1&utm_source=x&c=2&fbclid=y", "https://www.example.org/a?b=1&c=2"),
        ("/a?utm_source=x", "https://www.example.org/a"),
        ("/a;jsessionid=1F?PHPSESSID=2", "https://www.example.org/a"),
        ("/a?b=2&a=1", "https://www.example.org/a?b=2&a=1"),
        ("/%2%65", "https://www.example.org/%2%65"),
        ("javascript:alert(1)", None),
        ("mailto:me@example.org", None),
        ("data:text/html,x", None),
        ("ftp://example.org/", None),
        ("https://user:secret@example.org/", None),
        ("https://[::1", None),
        ("https://", None),
        ("https://./", None),
        ("/" + "a" * MAX_URL_LENGTH, None),
        ("/\ud800", None),
    ],
)
def test_urls_have_one_spelling(reference: str, url: str | None) -> None:
    assert normalise(reference, BASE) == url


@given(st.text(max_size=80) | st.from_regex(r"(https?:)?//?[a-z0-9./%?&=;#:@\\-]{0,60}", fullmatch=True))
@example("/%2%35")
@example("?a=%2%35&&b")
@example("/;jsessionid=1;jsessionid=2")
@example("//a%2eb/..;/")
def test_normalising_twice_is_normalising_once(reference: str) -> None:
    url = normalise(reference, BASE)
    if url is not None:
        assert normalise(url) == url
        assert normalise(url, "https://other.example.net/") == url
        assert len(url) <= MAX_URL_LENGTH
        assert url.startswith(("http://", "https://"))
        assert "#" not in url
        shape(url)


@given(st.from_regex(r"https?://[a-z0-9.\-\[\]:@%]{1,20}(/[^\x00-\x20]{0,20})?", fullmatch=True))
def test_the_fetcher_reads_the_same_host(url: str) -> None:
    normalised = normalise(url)
    if normalised is None:
        return
    try:
        target = parse_target(normalised)
    except FetchRefused:
        return
    assert target.url == normalised


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("https://www.example.org/a", True),
        ("http://example.org/", True),
        ("https://blog.example.org/", False),
        ("https://www.example.org:8443/", False),
        ("https://example.org.evil.net/", False),
    ],
)
def test_a_site_is_its_host_with_and_without_www(url: str, inside: bool) -> None:
    assert SiteScope.at("https://www.example.org/x").contains(url) is inside


def test_session_ids_are_recognised() -> None:
    assert has_session("/a?x=1&PHPSESSID=2#f")
    assert has_session("/a;jsessionid=3")
    assert not has_session("/a?session_name=x")


def test_numbers_are_not_part_of_a_shape() -> None:
    assert shape("https://a.example/2026/11?page=3&x=1") == shape("https://a.example/1999/2?x=9&page=4")
    assert shape("https://a.example/2026/11") != shape("https://a.example/2026/november")
