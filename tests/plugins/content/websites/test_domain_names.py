"""Domain names as people type them, and the URLs derived from them."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pressroom.sdk import InvalidInput
from pressroom_content.websites.domain_names import current_url, domain_url, read_domain, with_current_urls

BASE = "https://tools.example.com"
LABELS = st.from_regex(r"[a-zA-Z0-9]([a-zA-Z0-9-]{0,10}[a-zA-Z0-9])?", fullmatch=True).filter(
    lambda label: not label.lower().startswith("xn--")
)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (" Blog.Example.org ", "blog.example.org"),
        ("https://blog.example.org/", "blog.example.org"),
        ("HTTP://blog.example.org", "blog.example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
    ],
)
def test_typed_domains_are_normalised(typed: str, name: str) -> None:
    assert read_domain(typed, BASE) == name


@pytest.mark.parametrize("typed", ["straße.example", "blog.example.org.", "blog.example.org:443", "blog..org", "127.1"])
def test_an_ambiguous_name_is_refused(typed: str) -> None:
    with pytest.raises(InvalidInput):
        read_domain(typed, BASE)


def test_a_domain_has_the_port_of_the_public_url() -> None:
    base = "http://127.0.0.1:8000"
    assert read_domain("blog.example.org:8000", base) == "blog.example.org"
    assert domain_url("blog.example.org", base) == "http://blog.example.org:8000"
    assert domain_url("blog.example.org", BASE) == "https://blog.example.org"


@given(st.lists(LABELS, min_size=2, max_size=5))
def test_every_plain_name_is_taken_in_lower_case(labels: list[str]) -> None:
    labels[-1] = "example"
    typed = ".".join(labels)
    assert read_domain(typed, BASE) == typed.lower()


@given(st.text(max_size=80))
@example("a.b/../c")
@example("a.example.org@evil.example")
@example("a.example.org\r\nX: y")
@example("xn--.example")
@example("a\u3002example.org")
def test_whatever_is_typed_is_refused_or_becomes_a_plain_name(typed: str) -> None:
    try:
        name = read_domain(typed, BASE)
    except InvalidInput:
        return
    assert re.fullmatch(r"(?=.{4,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}", name)
    assert read_domain(name, BASE) == name


@pytest.mark.parametrize(
    ("url", "now"),
    [
        ("/sites/ada/files/a.png", "https://ada.example/files/a.png"),
        ("https://tools.example.com/sites/ada", "https://ada.example"),
        ("https://tools.example.com/sites/ada?page=2", "https://ada.example?page=2"),
        ("/sites/ada-2/post", "https://tools.example.com/sites/ada-2/post"),
        ("/media/x.png", "https://tools.example.com/media/x.png"),
        ("//evil.example/sites/ada/x", "//evil.example/sites/ada/x"),
        ("https://tools.example.com.evil.example/sites/ada", "https://tools.example.com.evil.example/sites/ada"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("#part", "#part"),
    ],
)
def test_stored_urls_are_rewritten_to_the_domain(url: str, now: str) -> None:
    assert current_url(url, "https://ada.example", f"{BASE}/sites/ada") == now
    assert current_url(url, f"{BASE}/sites/ada", f"{BASE}/sites/ada") == url


def test_urls_in_text_are_rewritten_to_the_domain() -> None:
    other = f"{BASE}/sites/ada-2/c x/sites/ada/d"
    text = f"[a]({BASE}/sites/ada/a) [b](/sites/ada/b) <{BASE}/sites/ada> {other}"
    assert with_current_urls(text, "https://ada.example", f"{BASE}/sites/ada") == (
        f"[a](https://ada.example/a) [b](https://ada.example/b) <https://ada.example> {other}"
    )
