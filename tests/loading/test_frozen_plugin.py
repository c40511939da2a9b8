"""A frozen plugin, written for plugin API 1 and never changed, on this host and on one with API 2."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pressroom.sdk
import pytest
from support.installing import install
from support.server import command_environment

SOURCE = Path(__file__).parent / "frozen" / "api_1.py.txt"
SHA256 = "8f0d4b73a4e1b2e1e477ea0bf1a742e12bef4def39d54f562cc4e67262f01339"

DRIVER = """
import asyncio, json, sys, time
from pathlib import Path

import httpx
import pressroom_frozen
from pressroom.sdk import API
from pressroom.testing import RunningHost, assert_plugin_conforms, settings_for_test

assert_plugin_conforms("frozen", host_config={"builtin_plugins": False})

said = {"api": API}
config = {"builtin_plugins": False, "plugins": {"frozen": {"config": {"mark": "?"}}}}
with RunningHost(settings_for_test(config, Path(sys.argv[1]))) as running:
    http = httpx.Client(base_url=running.url, timeout=60)
    (record,) = (one for one in running.host.compiled.plugins.records if one.id == "frozen")
    said["record"] = [record.status, record.api, len(record.contributes)]
    generate = "/tools/frozen-shout/api/generate"
    first, again = (http.post(generate, json={"text": "hello"}).json() for _ in range(2))
    said["file"] = http.get(first["data"]["url"]).text
    said["details"] = [first["data"]["letters"], first["data"]["cached"], again["data"]["cached"]]
    said["refused"] = http.post(generate, json={"text": "never"}).json()["error"]["message"]
    badges = ("good", "bad")
    said["badges"] = [
        http.post(generate, json={"text": "x"}, headers={"x-frozen-badge": badge}).status_code for badge in badges
    ]
    tool = running.host.services.catalog.plans["anonymous"].tools["frozen-shout"]
    said["rules"] = [[rule.name for rule in tool.limits], tool.cache.seconds]
    page = http.get("/frozen/page")
    said["page"] = [page.text, page.headers["x-frozen"]]
    said["index"] = "Frozen page" in http.get("/llms.txt").text

    accounts = running.host.accounts
    user = running.run(accounts.users.add("ada@example.com"))
    _, key = running.run(accounts.api_keys.create(user.id, "laptop"))
    def call(name, **arguments):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        headers = {"authorization": f"Bearer {key}", "x-mcp-toolsets": "all"}
        return http.post("/api/mcp", json=body, headers=headers).json()["result"]
    counted = call("frozen_count", text="a b c", client_request_id="one")
    said["words"] = counted["structuredContent"]["words"]
    said["shouted"] = call("frozen_shout", text="hello")["structuredContent"]["letters"]
    job = counted["structuredContent"]["job"]
    while (status := running.run(running.host.jobs.status(job))).state in ("queued", "running"):
        running.run(asyncio.sleep(0.05))
    said["job"] = [status.state, dict(status.result or {})]
said["seen"] = sorted(set(pressroom_frozen.SEEN))
print(json.dumps(said))
"""

EXPECTED = {
    "record": ["active", "1", 14],
    "file": "HELLO?",
    "details": [5, False, True],
    "refused": "text: must not be never",
    "badges": [200, 401],
    "rules": [["default", "frozen: daily"], 60],
    "page": ["<h1>page</h1>", "1"],
    "index": True,
    "words": 3,
    "shouted": 5,
    "job": ["succeeded", {"words": 3}],
}


def test_the_frozen_plugin_is_unchanged() -> None:
    assert hashlib.sha256(SOURCE.read_bytes()).hexdigest() == SHA256, "write a plugin for a new API into a new file"


@pytest.mark.parametrize("api", ["1", "2"])
def test_a_plugin_for_api_1_still_works(tmp_path: Path, api: str) -> None:
    site = tmp_path / "site"
    install(site, "frozen", {"pressroom_frozen.py": SOURCE.read_text()}, {"frozen": "pressroom_frozen"})
    if api != pressroom.sdk.API:
        shutil.copytree(
            Path(pressroom.__file__).parent, site / "pressroom", ignore=shutil.ignore_patterns("__pycache__")
        )
        module = site / "pressroom" / "sdk" / "plugin.py"
        text = module.read_text()
        assert text.count(f'\nAPI: Final = "{pressroom.sdk.API}"') == 1
        module.write_text(text.replace(f'\nAPI: Final = "{pressroom.sdk.API}"', f'\nAPI: Final = "{api}"'))
    environment = command_environment(tmp_path)
    environment["PYTHONPATH"] = f"{site}{os.pathsep}{environment['PYTHONPATH']}"

    result = subprocess.run(
        [sys.executable, "-c", DRIVER, str(tmp_path / "data")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout.splitlines()[-1])
    assert report.pop("api") == api
    assert {"closed", "frozen-shout ok False", "frozen-shout ok True", "opened"} <= set(report.pop("seen"))
    assert report == EXPECTED
