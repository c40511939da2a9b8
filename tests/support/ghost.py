"""A real Ghost on 127.0.0.1, installed from npm only: its package, and a Node.js for it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from support.downloads import installed, run
from support.needs import free_port, program
from support.node import NODE, node_environment, node_folder

GHOST, PNPM = "ghost@6.65.0", "pnpm@12.4.2"
START_SECONDS: Final = 240
STOP_SECONDS: Final = 120
"""Generous timeouts for starting and stopping, in seconds: enough even on a fully loaded machine."""
OWNER: Final = {"email": "owner@example.com", "password": "Quiet-Harbor-4417!"}


@dataclass(frozen=True, slots=True)
class Ghost:
    """A running site with an integration's Admin API key. Its posts, images and settings are in `folder`."""

    url: str
    admin_key: str
    folder: Path


@contextmanager
def ghost(folder: Path) -> Iterator[Ghost]:
    """Run a fresh site with its data in `folder`. The test cannot run if npm cannot install Ghost."""
    new_site = _new_site()
    with _running(folder, new_site / "ghost.db") as (url, data):
        yield Ghost(url, (new_site / "admin_key").read_text(), data)


def _new_site() -> Path:
    """Return a folder with the database and the Admin API key of a new site: making them takes as long as starting it.

    The database is good for any URL, since Ghost stores a placeholder instead of its own.
    """
    return installed("ghost-site", f"{GHOST} {sorted(OWNER.items())}", _set_up)


def _set_up(folder: Path) -> None:
    first = folder / "first"
    first.mkdir()
    with _running(first) as (url, data):
        (folder / "admin_key").write_text(_admin_key(url))
    database = data / "data" / "ghost.db"
    with closing(sqlite3.connect(database)) as old, closing(sqlite3.connect(folder / "ghost.db")) as new:
        old.backup(new)
    shutil.rmtree(first)


@contextmanager
def _running(folder: Path, database: Path | None = None) -> Iterator[tuple[str, Path]]:
    """Run a site with its data in `folder`; yield its URL, and the folder of its content.

    It starts with a copy of `database`, or with an empty one.
    """
    package, environment = _installed()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    data = folder / "content"
    shutil.copytree(package / "content", data, symlinks=True)
    for name in ("data", "images", "logs", "files", "media", "settings", "themes", "public", "adapters"):
        (data / name).mkdir(parents=True, exist_ok=True)
    if database is not None:
        shutil.copyfile(database, data / "data" / "ghost.db")
    command = [str(_node(environment)), str(package / "index.js")]
    temporary = folder / "tmp"
    temporary.mkdir()
    overrides = {"NODE_ENV": "production", "TMPDIR": str(temporary)}
    started = {**environment, **_as_environment(_config(url, port, data)), **overrides}
    with (folder / "ghost.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=package, env=started, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait(url, process, folder / "ghost.log")
        yield url, data
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(STOP_SECONDS)


def _config(url: str, port: int, data: Path) -> dict[str, Any]:
    nowhere = {"url": "http://127.0.0.1:9/"}
    return {
        "url": f"{url}/",
        # By default, shutdown waits a minute for keep-alive connections.
        "server": {"host": "127.0.0.1", "port": port, "shutdownTimeout": 1000},
        "database": {
            "client": "better-sqlite3",
            "connection": {"filename": str(data / "data" / "ghost.db")},
            "useNullAsDefault": True,
        },
        "mail": {"transport": "stub"},
        "logging": {"level": "warn", "transports": ["stdout"]},
        "paths": {"contentPath": f"{data}/"},
        "updateCheck": nowhere,
        "explore": {"update_url": "http://127.0.0.1:9/", "testimonials_url": "http://127.0.0.1:9/"},
        "privacy": {"useUpdateCheck": False, "useGravatar": False, "useRpcPing": False},
        "security": {"staffDeviceVerification": False},
    }


def _as_environment(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return settings in Ghost's environment format: two underscores between the levels."""
    flat: dict[str, str] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= _as_environment(value, f"{prefix}{name}__")
        else:
            flat[f"{prefix}{name}"] = value if isinstance(value, str) else json.dumps(value)
    return flat


def _admin_key(url: str) -> str:
    """Create the owner and a custom integration, and return the integration's Admin API key."""
    admin = f"{url}/ghost/api/admin"
    owner = {"name": "Owner", "email": OWNER["email"], "password": OWNER["password"], "blogTitle": "Test site"}
    with httpx.Client(headers={"Origin": url}, timeout=60) as client:
        client.post(f"{admin}/authentication/setup/", json={"setup": [owner]}).raise_for_status()
        credential = {"username": OWNER["email"], "password": OWNER["password"]}
        client.post(f"{admin}/session/", json=credential).raise_for_status()
        response = client.post(
            f"{admin}/integrations/?include=api_keys", json={"integrations": [{"name": "Pressroom tests"}]}
        )
        response.raise_for_status()
    [key] = [api_key for api_key in response.json()["integrations"][0]["api_keys"] if api_key["type"] == "admin"]
    secret = str(key["secret"])
    return secret if ":" in secret else f"{key['id']}:{secret}"


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            if httpx.get(f"{url}/ghost/api/admin/site/", timeout=30).status_code == 200:
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < deadline, log.read_text()[-2000:]
        time.sleep(0.1)


def _installed() -> tuple[Path, dict[str, str]]:
    """Return Ghost's folder and environment."""
    folder = installed("ghost", f"{GHOST} {NODE} {PNPM}", _install)
    return folder / "package", _environment(folder)


def _environment(folder: Path) -> dict[str, str]:
    return node_environment(folder / "tools" / "node_modules" / ".bin")


def _install(folder: Path) -> None:
    npm, environment = program("npm"), _environment(folder)
    tools, package = folder / "tools", folder / "package"
    tools.mkdir()
    (tools / "package.json").write_text("{}")
    run([npm, "install", "--no-audit", "--no-fund", PNPM], tools, environment)
    run([npm, "pack", GHOST], folder, environment)
    [archive] = folder.glob("ghost-*.tgz")
    run(["tar", "xzf", str(archive)], folder, environment)
    archive.unlink()
    # The prebuilt native module is on an unreachable host: compile it with these headers.
    built = {**environment, "npm_config_nodedir": str(node_folder())}
    # The database is the only native dependency needed; compiling the rest would take minutes.
    run(["pnpm", "install", "--prod", "--frozen-lockfile", "--ignore-scripts"], package, built)
    _build_sqlite(package, built)


def _build_sqlite(package: Path, environment: dict[str, str]) -> None:
    module = (package / "node_modules" / "better-sqlite3").resolve()
    if not any(module.rglob("Release/better_sqlite3.node")):
        nodedir = environment["npm_config_nodedir"]
        # Disabling optimisation halves the compile time, and does not affect the tests.
        quickly = {**environment, "CFLAGS": "-O0", "CXXFLAGS": "-O0"}
        run(["npx", "--yes", "node-gyp", "rebuild", "--release", f"--nodedir={nodedir}"], module, quickly)


def _node(environment: dict[str, str]) -> str:
    program = shutil.which("node", path=environment["PATH"])
    assert program is not None
    return program
