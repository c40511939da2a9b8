"""DNS rebinding: a name that resolves to an external host when checked and to an internal one when used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.disks import namespace
from support.needs import unavailable

pytestmark = pytest.mark.services


def test_a_name_rebound_between_two_lookups_reaches_no_internal_host(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    resolver = tmp_path / "resolv.conf"
    resolver.write_text("nameserver 127.0.0.1\noptions attempts:1\n")
    unshare, *options, shell, line = namespace(tmp_path / "disk")
    script = 'mount --bind "$1" /etc/resolv.conf && exec "$2" -m support.rebinding'
    result = subprocess.run(
        [unshare, *options, "--net", shell, line, script, "sh", str(resolver), sys.executable],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if result.stderr.startswith("unshare: "):
        unavailable(f"a process cannot have a network of its own here: {result.stderr.strip()}")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    # The names do alternate: without a check of the IP address that is used, half of all requests would get inside.
    assert report["turns"] == ["8.8.8.8", "127.0.0.1"]
    assert report["outside"] == report["failed"] > 0
    assert report["refused"] > 100
    assert report["inside"] == 0
