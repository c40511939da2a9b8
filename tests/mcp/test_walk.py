"""What is hidden is also refused: every plan, switch and tool, and every way to call it."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import httpx
import pytest
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.mcp_peer import Account, Peer, account

PLANS: dict[str, dict[str, Any]] = {
    "free": {"tools": ["generate_*"]},
    "pro": {"tools": ["generate_*", "count_*", "text-file", "gate"]},
    "max": {"tools": ["*"]},
    "none": {"tools": []},
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "generate_qr_code": {"text": "walk"},
    "write_text_file": {"text": "walk"},
    "count_words": {"text": "walk"},
    "make_image": {},
    "rich": {"title": "walk"},
}
SLUGS = {"generate_qr_code": "qr-code-generator", "write_text_file": "text-file", "make_image": "image-maker"}
VISIBLE = {
    "free": {"generate_qr_code"},
    "pro": {"generate_qr_code", "count_words", "write_text_file"},
    "max": set(ARGUMENTS),
    "none": set(),
}
SWITCHES: tuple[tuple[str, ...], ...] = ((), ("generate_qr_code",), tuple(ARGUMENTS))


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory, mcp_tools: None) -> Iterator[RunningHost]:
    plugins: dict[str, Any] = {"test_tools": {}, "mcp_tools": {}, "qr_code_generator": {}}
    config = {"builtin_plugins": False, "plugins": plugins, "plans": PLANS}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as host:
        yield host


def single(host: RunningHost, user: Account, tool: str) -> bool:
    return "isError" not in Peer(host, user).call(tool, ARGUMENTS[tool])


def batch(host: RunningHost, user: Account, tool: str) -> bool:
    params = {"name": tool, "arguments": ARGUMENTS[tool]}
    messages = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params} for number in (1, 2)]
    results = [response["result"] for response in Peer(host, user).post(messages).json()]
    (worked,) = {"isError" not in result for result in results}
    return worked


def tools_api(host: RunningHost, user: Account, tool: str) -> bool:
    path = f"/tools/{SLUGS.get(tool, tool)}/api/generate"
    response = httpx.post(host.url + path, json=ARGUMENTS[tool], headers=user.bearer, timeout=30)
    assert response.status_code in (200, 403, 404)
    return response.status_code == 200


@pytest.mark.parametrize(("plan", "off"), [*product(PLANS, SWITCHES)], ids=str)
def test_only_listed_tools_can_be_called(walked: RunningHost, plan: str, off: tuple[str, ...]) -> None:
    user = account(walked, plan, off)
    listed = {tool["name"] for tool in Peer(walked, user).tools()} & ARGUMENTS.keys()

    assert listed == VISIBLE[plan] - set(off)
    for tool in ARGUMENTS:
        assert single(walked, user, tool) is (tool in listed), tool
        assert batch(walked, user, tool) is (tool in listed), tool
        assert tools_api(walked, user, tool) is (tool in listed and tool in SLUGS), tool
