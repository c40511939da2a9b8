"""Request walks: a ceiling on the modules that a request passes through and the hops between them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from pressroom.testing import RunningHost
from support.tool_client import client_of
from support.walks import Walk, walked

Start = Callable[..., RunningHost]

QR = "/tools/qr-code-generator/api/generate"

PAGE = Path(__file__).parents[2] / "docs/explanation/architecture.md"


def assert_documented(walk: Walk, name: str) -> None:
    """Check that the architecture page lists the modules; with PRESSROOM_TEST_UPDATE, update the list."""
    text = PAGE.read_text("utf-8")
    block = re.compile(rf"(<!-- walk: {name} -->\n)(.*?)(<!-- end -->)", re.DOTALL)
    listing = "".join(f"{number}. `{module}`\n" for number, module in enumerate(walk.modules, 1))
    if os.environ.get("PRESSROOM_TEST_UPDATE"):
        PAGE.write_text(block.sub(rf"\g<1>\n{listing}\n\g<3>", text), "utf-8")
        return
    match = block.search(text)
    assert match is not None
    listed = set(re.findall(r"`([\w.]+)`", match[2]))
    assert listed == set(walk.modules), "write the lists anew with PRESSROOM_TEST_UPDATE=1"


def assert_below(walk: Walk, *, modules: int, hops: int) -> None:
    print(walk.report())  # noqa: T201 - `pytest -s` shows the walk
    assert 10 < len(walk.modules) <= modules, walk.report()
    assert walk.hops <= hops, walk.report()


@pytest.fixture
def host(start: Start) -> RunningHost:
    return start(builtin_plugins=True, plugins={"seo": {"enabled": False}, "images": {"enabled": False}})


def test_a_qr_code_that_is_not_cached(host: RunningHost) -> None:
    with httpx.Client(base_url=host.url, timeout=60) as http:
        assert http.post(QR, json={"text": "first"}).status_code == 200  # triggers the imports of the first request
        with walked(host) as walk:
            assert http.post(QR, json={"text": "second"}).status_code == 200

    assert_below(walk, modules=23, hops=50)
    assert_documented(walk, "qr")


def test_a_qr_code_from_the_cache(host: RunningHost) -> None:
    with httpx.Client(base_url=host.url, timeout=60) as http:
        for _ in range(2):
            assert http.post(QR, json={"text": "again"}).status_code == 200
        with walked(host) as walk:
            assert http.post(QR, json={"text": "again"}).status_code == 200

    assert_below(walk, modules=21, hops=35)


def test_an_article_that_is_created_over_mcp(host: RunningHost) -> None:
    ada = client_of(host, "ada@example.com")
    for title in ("First", "Second"):  # the first may take longer than credentials are cached
        ada.data("create_content", title=title, body="Text.")
    with walked(host) as walk:
        ada.data("create_content", title="Third", body="Text.")

    assert_below(walk, modules=44, hops=96)
    assert_documented(walk, "create_content")
