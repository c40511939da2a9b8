"""A plugin uses the server's generators, whichever plugin provides them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.errors import InvalidInput, NotFound
from pressroom.pipeline.chain import InternalCalls
from pressroom.sdk import Tools
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test


def test_a_generator_creates_a_file_for_a_plugin(tmp_path: Path) -> None:
    config = {"plugins": {"qr_code_generator": {}}, "plans": {"anonymous": {"tools": ["qr-code-generator"]}}}
    with RunningHost(settings_for_test(config, tmp_path)) as host:
        tools = host.host.compiled.plugins.services.tools
        assert isinstance(tools, Tools)
        content, media_type = host.run(tools.make_file("qr-code-generator", {"text": "hello"}))
        assert (content[:4], media_type) == (b"\x89PNG", "image/png")
        with pytest.raises(InvalidInput, match="text"):
            host.run(tools.make_file("qr-code-generator", {}))
        with pytest.raises(NotFound):
            host.run(tools.make_file("no-such-generator", {}))
        with pytest.raises(NotFound):  # the operator has disabled it for everybody
            host.run(tools.make_file("favicon-generator", {}))


async def test_tools_are_unavailable_before_the_server_starts() -> None:
    with pytest.raises(RuntimeError, match="once the server has started"):
        await InternalCalls().make_file("qr-code-generator", {"text": "hello"})


def test_a_plugin_reads_a_file_of_this_server_by_its_signed_link(tmp_path: Path) -> None:
    config: dict[str, Any] = {"plugins": {"qr_code_generator": {}}}
    with RunningHost(settings_for_test(config, tmp_path)) as host, httpx.Client(base_url=host.url) as http:
        image = http.post("/tools/qr-code-generator/api/generate", json={"text": "hello"}).json()["data"]
        tools = host.host.compiled.plugins.services.tools

        assert host.run(tools.read_file(image["url"])) == http.get(image["url"]).content
        for url in (
            image["url"][:-1] + ("A" if image["url"][-1] != "A" else "B"),
            image["url"].partition("?")[0],
            image["url"].replace(f"/{image['id']}", "/../secret.key"),
            image["url"].replace(host.url, "https://example.org"),
            f"{host.url}/files/",
            "https://example.org/a.png",
            "",
        ):
            assert host.run(tools.read_file(url)) is None, url
