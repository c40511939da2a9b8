"""Load a server with wrk: requests per second, and the server's CPU time per request."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.needs import program

CONNECTIONS: Final = 16


@dataclass(frozen=True, slots=True)
class Load:
    """Performance under load. `cpu` is the CPU time of the server's main process per request, in microseconds.

    CPU time is more stable than requests per second: next to the load generator, on a shared machine, no server has a
    core to itself.
    """

    per_second: float
    cpu: float


def load(url: str, body: str, headers: Mapping[str, str], folder: Path, *, pid: int, seconds: int) -> Load:
    """Post a body repeatedly over 16 connections to the server with process id `pid`; every request must succeed."""
    lines = "".join(f"wrk.headers[{json.dumps(name)}]={json.dumps(text)};" for name, text in headers.items())
    script = folder / "post.lua"
    script.write_text(f"wrk.method='POST';{lines}wrk.body={json.dumps(body)}")
    command = [program("wrk"), "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(script), url]
    before = cpu_seconds(pid)
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    spent = cpu_seconds(pid) - before
    assert "Non-2xx" not in result.stdout, result.stdout
    requests = re.search(r"(\d+) requests in", result.stdout)
    per_second = re.search(r"Requests/sec:\s+([\d.]+)", result.stdout)
    assert requests, result.stdout
    assert per_second, result.stdout
    return Load(float(per_second[1]), spent / int(requests[1]) * 1_000_000)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process in seconds, in user and in kernel mode."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
