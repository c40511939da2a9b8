"""Downloads for tests: installed once for all processes, with a clear reason if there is no room."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.disks import run_on_small_disk

ASK = """
import sys
from pathlib import Path
from support.downloads import installed

def install(folder):
    print("installs", flush=True)
    sys.stdin.readline()
    (folder / "what").write_text("all of it")

print("asks", flush=True)
print((installed("thing", "1", install) / "what").read_text(), flush=True)
"""


def ask(cache: Path) -> subprocess.Popen[str]:
    """Start a process that requests a download, and installs it after a line on standard input."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", ASK]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def waits_for_a_lock(process: subprocess.Popen[str]) -> bool:
    """Return whether Linux lists the process as waiting for a lock (`1: -> FLOCK  ADVISORY  WRITE 4711 ...`)."""
    waiting = [row.split() for row in Path("/proc/locks").read_text().splitlines() if "->" in row]
    return any(str(process.pid) in row for row in waiting)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who waits for a lock")
def test_two_concurrent_users_of_a_package_install_it_once(tmp_path: Path) -> None:
    with ask(tmp_path) as first:
        assert [line(first), line(first)] == ["asks", "installs"]
        with ask(tmp_path) as second:
            assert line(second) == "asks"
            while not waits_for_a_lock(second):
                assert second.poll() is None
                os.sched_yield()
            assert first.communicate("\n")[0] == "all of it\n"
            assert second.communicate()[0] == "all of it\n"
    with ask(tmp_path) as third:
        assert third.communicate()[0] == "asks\nall of it\n"


@pytest.mark.services
def test_on_a_full_disk_the_reason_says_what_to_do(tmp_path: Path) -> None:
    run_on_small_disk("cache_on_full_disk", tmp_path / "disk", size="256k")


@pytest.mark.services
def test_on_a_read_only_disk_the_reason_says_what_to_do(tmp_path: Path) -> None:
    run_on_small_disk("cache_on_read_only_disk", tmp_path / "disk", size="256k")
