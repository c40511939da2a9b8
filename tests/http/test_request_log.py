"""Filtering of the request log."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest
from support.server import serving

TOKEN = "a token for the tests"


@pytest.mark.parametrize(("setting", "logged"), [("", True), ("health_checks = false\n", False)])
def test_health_checks_can_be_omitted_from_the_log_unless_they_fail(tmp_path: Path, setting: str, logged: bool) -> None:
    config = f"[metrics]\ntoken = '{TOKEN}'\n[logging]\nformat = 'json'\n{setting}"
    with serving(tmp_path, config) as server:
        with httpx.Client(base_url=server.url, timeout=30) as http:
            for path in ("/healthz", "/readyz", "/tools/api"):
                assert http.get(path).status_code == 200
            assert http.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
            assert http.get("/metrics").status_code == 401
        server.terminate()
    events = [json.loads(line) for line in server.log.splitlines()]
    requests = [(event["path"], event["status"]) for event in events if event["event"] == "request"]
    health = [("/healthz", 200), ("/readyz", 200), ("/metrics", 200)]
    assert [request for request in requests if request in health] == (health if logged else [])
    assert ("/tools/api", 200) in requests
    assert ("/metrics", 401) in requests
