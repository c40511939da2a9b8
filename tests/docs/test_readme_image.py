"""The README image is rendered by the server itself."""

import os
from pathlib import Path

import httpx
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.doc_examples import DOCS

PARAMS = {"text": "https://example.com/", "format": "svg", "fgColor": "#1d1a17", "response": "binary"}


def test_the_image_matches_the_servers_output(tmp_path: Path) -> None:
    with RunningHost(settings_for_test({}, tmp_path)) as host:
        response = httpx.post(f"{host.url}/tools/qr-code-generator/api/generate", json=PARAMS)
    assert response.headers["content-type"] == "image/svg+xml"
    file = DOCS / "images/qr-code.svg"
    if os.environ.get("PRESSROOM_TEST_UPDATE"):
        file.write_bytes(response.content)
    assert file.read_bytes() == response.content
