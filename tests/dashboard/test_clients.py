"""Configuration snippets for AI clients."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from pressroom.interfaces.dashboard.clients import PLACEHOLDER, ClientGuide, client_guides, server_name
from support.page_server import branding

KEY = "prk_key_0123456789_abcdef"


def guides(
    key: str = KEY, *, offers_oauth: bool = True, url: str = "https://p.example/api/mcp"
) -> dict[str, ClientGuide]:
    return {guide.id: guide for guide in client_guides(branding(mcp_url=url), key, offers_oauth=offers_oauth)}


def snippet(guide: ClientGuide, title: str) -> str:
    (text,) = [snippet.text for snippet in guide.snippets if snippet.title == title]
    return text


def test_there_is_a_guide_for_each_common_client() -> None:
    titles = [guide.title for guide in guides().values()]
    assert titles == ["Claude Desktop", "Claude Code", "Cursor", "VS Code", "ChatGPT", "curl"]


@pytest.mark.parametrize("key", [KEY, PLACEHOLDER])
@pytest.mark.parametrize("offers_oauth", [True, False])
def test_every_configuration_has_the_url(key: str, offers_oauth: bool) -> None:
    for guide in guides(key, offers_oauth=offers_oauth).values():
        for snippet in guide.snippets:
            assert "https://p.example/api/mcp" in snippet.text


def test_files_are_json_in_the_clients_format() -> None:
    by_client = guides()
    cursor = json.loads(snippet(by_client["cursor"], "mcp.json"))["mcpServers"]["pressroom"]
    assert cursor == {"url": "https://p.example/api/mcp", "headers": {"Authorization": f"Bearer {KEY}"}}
    code = json.loads(snippet(by_client["vs-code"], "mcp.json"))
    assert code["servers"]["pressroom"]["type"] == "http"
    assert code["servers"]["pressroom"]["headers"] == {"Authorization": f"Bearer {KEY}"}
    desktop = json.loads(snippet(by_client["claude-desktop"], "claude_desktop_config.json"))["mcpServers"]["pressroom"]
    assert desktop["env"] == {"AUTHORIZATION": f"Bearer {KEY}"}
    assert "--allow-http" not in desktop["args"]
    assert not any(" " in argument for argument in desktop["args"])


def test_vs_code_prompts_for_a_missing_key() -> None:
    config = json.loads(snippet(guides(PLACEHOLDER)["vs-code"], "mcp.json"))
    assert config["inputs"][0]["password"] is True
    assert (
        config["servers"]["pressroom"]["headers"]["Authorization"] == f"Bearer ${{input:{config['inputs'][0]['id']}}}"
    )


@pytest.mark.parametrize(("title", "keyed"), [("initialize", False), ("tools/list", True)])
def test_the_curl_commands_are_valid_shell(title: str, keyed: bool) -> None:
    command = snippet(guides()["curl"], title)
    words = shlex.split(command)
    assert words[:2] == ["curl", "https://p.example/api/mcp"]
    assert (f"Authorization: Bearer {KEY}" in words) is keyed
    assert json.loads(words[words.index("-d") + 1])["method"] == title
    subprocess.run(["bash", "-n", "-c", command], check=True)


def test_claude_code_gets_its_header_after_the_url() -> None:
    words = shlex.split(snippet(guides()["claude-code"], "Terminal").replace("\\\n", ""))
    assert words[-4:] == ["pressroom", "https://p.example/api/mcp", "--header", f"Authorization: Bearer {KEY}"]


def test_with_oauth_off_nobody_is_sent_to_sign_in() -> None:
    for guide in guides(offers_oauth=False).values():
        assert "sign in" not in " ".join((*guide.steps, guide.note))


def test_a_server_without_https_lists_the_clients_that_cannot_reach_it() -> None:
    by_client = guides(PLACEHOLDER, url="http://127.0.0.1:8000/api/mcp")
    assert "--allow-http" in snippet(by_client["claude-desktop"], "claude_desktop_config.json")
    assert "https" in by_client["chatgpt"].note
    assert "https" in by_client["claude-desktop"].note


@pytest.mark.parametrize(
    ("name", "server"), [("Pressroom", "pressroom"), ("Ink & Co.", "ink-co"), ("新聞", "pressroom")]
)
def test_clients_list_the_server_under_the_operators_name(name: str, server: str) -> None:
    assert server_name(branding(name=name)) == server


def test_the_documentation_has_the_same_snippets() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/connect-a-client.md").read_text("utf-8")
    for guide in guides(PLACEHOLDER, url="https://press.example/api/mcp").values():
        for snippet in guide.snippets:
            assert snippet.text in page, f"{guide.title}: {snippet.title}"
