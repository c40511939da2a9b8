"""Permanent URLs of designs: open to anonymous callers, but none can keep the server busy with one."""

from __future__ import annotations

import random
import zlib

import pytest
from pressroom.errors import InvalidInput
from pressroom.interfaces.tools_api.image_links import DesignSigner


def test_an_anonymous_caller_cannot_keep_the_server_busy_compressing_a_design(monkeypatch: pytest.MonkeyPatch) -> None:
    compressed: list[int] = []
    original = zlib.compress

    def compress(text: bytes, level: int) -> bytes:
        compressed.append(len(text))
        return original(text, level)

    monkeypatch.setattr(zlib, "compress", compress)
    # Random text of two letters is the slowest to compress: a second for 250 KB.
    text = "".join(random.Random(1).choices("ab", k=250_000))
    signer = DesignSigner(b"a secret of this server")
    for length in (250_000, 20_000):
        with pytest.raises(InvalidInput, match="too long for a link: it has"):
            signer.query("image-generator", {"html": text[:length]})
    assert not compressed
    with pytest.raises(InvalidInput, match="too long for a link: it takes 3,"):
        signer.query("image-generator", {"html": text[:16_000]})
    query = signer.query("image-generator", {"html": "ab" * 8_000})
    assert signer.arguments("image-generator", query["design"], query["signature"]) == {"html": "ab" * 8_000}
