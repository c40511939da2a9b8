"""Character sets of imported pages: a page cannot select a decoder with quadratic running time."""

from __future__ import annotations

import pytest
from pressroom.sdk import Fetched
from pressroom_content.articles.importing import _decoded
from support.growth import grows


def fetched(content: bytes, content_type: str) -> Fetched:
    return Fetched("https://blog.example/", 200, "text/html", content, {"content-type": content_type})


@pytest.mark.parametrize(
    "charset", ["punycode", "idna", "unicode_escape", "raw_unicode_escape", "rot13", "zlib", "utf-7"]
)
def test_a_codec_that_is_not_a_web_encoding_is_not_used(charset: str) -> None:
    page = fetched("<p>é-\\u0041</p>".encode(), f"text/html; charset={charset}")
    assert _decoded(page) == "<p>é-\\u0041</p>"


def test_decoding_takes_linear_time() -> None:
    def work(content: bytes) -> object:
        return _decoded(fetched(content, "text/html; charset=punycode"))

    assert not grows(work, lambda size: b"a-" * (size // 2), 100_000)


def test_web_encodings_are_decoded() -> None:
    assert _decoded(fetched("één".encode("windows-1252"), "text/html; charset=iso-8859-1")) == "één"
    assert _decoded(fetched('<meta charset="shift_jis">日本'.encode("shift_jis"), "text/html")).endswith("日本")
