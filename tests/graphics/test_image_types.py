"""The type of an image by its first bytes."""

import pytest
from pressroom.graphics.image_types import type_of_image


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x20ftypavif", "image/avif"),
        (b"\0\0\0\x20ftypavis", "image/avif"),
        (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf", "image/avif"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        (b"<!--x--><svg/>", "image/svg+xml"),
        (b"\xef\xbb\xbf\n<?xml version='1.0'?>\n<!-- a --><!DOCTYPE svg>\n<svg>", "image/svg+xml"),
    ],
)
def test_image_types_are_detected_from_their_first_bytes(content: bytes, media_type: str) -> None:
    assert type_of_image(content) == media_type


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html><svg>",
        b"<!doctype html><p>",
        b"%PDF-1.7",
        b"RIFF\0\0\0\0WAVE",
        b"\0\0\0\x20ftypmp42",
        b"\0\0\0\x1cftypheic\0\0\0\0mif1heicmiaf",
        b"\0\0\0\x1cftypmif1\0\0\0\0mif1heicmiaf",
        b"\0\0\0\x14ftypmif1\0\0\0\0mif1\0\0\0\x08avif",
        b'<!DOCTYPE svg [<!ENTITY a "b">]><svg>',
        b"<!---->" * 300 + b"<html>",
        b" " * 5000 + b"<svg>",
    ],
)
def test_other_contents_are_not_images(content: bytes) -> None:
    assert type_of_image(content) == ""
