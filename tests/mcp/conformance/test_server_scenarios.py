"""The server scenarios of the MCP conformance suite."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from support.mcp_clients.environments import node, node_packages

EXPECTED_FAILURES = Path(__file__).with_name("expected_failures.yaml")
APPLICABLE = frozenset(
    {
        "server-initialize",
        "ping",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
        "tools-call-error",
        "dns-rebinding-protection",
    }
)
"""Scenarios that apply to a server with tools and without sessions."""


@pytest.mark.timeout(300)
def test_applicable_scenarios_pass_and_expected_failures_are_exact(endpoint: str, tmp_path: Path) -> None:
    suite = node_packages() / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    options = ["--url", endpoint, "--expected-failures", str(EXPECTED_FAILURES), "--output-dir", str(tmp_path)]
    result = subprocess.run(
        [node(), str(suite), "server", *options], capture_output=True, text=True, timeout=240, check=False
    )
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-2000:]
    statuses = {scenario(file): statuses_of(file) for file in tmp_path.rglob("checks.json")}
    passed = {name for name, outcomes in statuses.items() if outcomes <= {"SUCCESS", "INFO", "SKIPPED"}}
    assert passed == APPLICABLE
    assert statuses.keys() - passed == set(re.findall(r"^  - (\S+)$", EXPECTED_FAILURES.read_text(), re.MULTILINE))


def scenario(file: Path) -> str:
    """Return the scenario of a result file in a folder such as `server-ping-2026-01-01T00-00-00-000Z`."""
    return re.sub(r"-\d{4}-\d\d-\d\dT.*", "", file.parent.name.removeprefix("server-"))


def statuses_of(file: Path) -> set[str]:
    return {check["status"] for check in json.loads(file.read_text())}
