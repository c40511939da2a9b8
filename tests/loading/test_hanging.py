"""Plugins that hang in a real process: at startup, at shutdown and in between. The log names them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.forked_command import ForkedCommand
from support.plugin_source import SOUND, install_plugin
from support.polling import wait_until
from support.server import announced, command_environment

LIFESPAN = """
import asyncio, threading, time
from contextlib import asynccontextmanager
from pathlib import Path

class Stubborn:
    async def open(self):
        await asyncio.Event().wait()
    async def close(self): ...
    async def get(self, content_id): ...
    async def put(self, content_id, entry, *, seconds): ...
    async def delete(self, content_id): ...

class Blocking(Stubborn):
    async def open(self): ...
    async def close(self):
        time.sleep(600)

async def never():
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass

def nap():
    time.sleep(600)

@asynccontextmanager
async def connection():
    Path("entered").touch()
    ENTER
    yield
    LEAVE

@hookimpl
def pressroom_lifespan():
    return [Lifespan("connection", connection)]

@hookimpl
def pressroom_backends():
    return [
        Backend("cache", "stubborn", lambda settings: Stubborn()),
        Backend("cache", "blocking", lambda settings: Blocking()),
    ]
"""


def source(enter: str = "pass", leave: str = "pass", tool: str = "pass") -> str:
    body = f'    """Writes a text in capitals."""\n    {tool}\n'
    sound = SOUND.replace('    """Writes a text in capitals."""\n', body)
    return sound + LIFESPAN.replace("ENTER", enter).replace("LEAVE", leave)


@dataclass
class Process:
    """A server process that may not have started yet."""

    process: ForkedCommand
    folder: Path

    def log(self) -> list[dict[str, Any]]:
        lines = (self.folder / "log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]

    def logged(self, event: str, *fields: str) -> dict[str, Any]:
        """Wait until the log has an event with these fields, and return its line."""

        def look() -> dict[str, Any] | None:
            lines = (line for line in self.log() if line["event"].startswith(event))
            return next((line for line in lines if all(name in line for name in fields)), None)

        entry: dict[str, Any] = wait_until(look)
        return entry

    def entered(self) -> None:
        wait_until((self.folder / "entered").exists)

    def started(self) -> dict[str, Any]:
        return announced(self.process, self.folder / "log")

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)


@contextmanager
def serving(folder: Path, module: str, config: str = "") -> Iterator[Process]:
    install_plugin(folder / "own", "hanging", module)
    head = "builtin_plugins = false\n[plugins.hanging]\n[logging]\nformat = 'json'\n"
    (folder / "pressroom.toml").write_text(head + config)
    environment = command_environment(folder)
    environment["PYTHONPATH"] += f"{os.pathsep}{folder / 'own'}"
    with (folder / "log").open("w") as log:
        arguments = ["serve", "--port", "0", "--json", "--config", "pressroom.toml"]
        process = ForkedCommand(arguments, cwd=folder, env=environment, stderr=log)
    try:
        yield Process(process, folder)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("enter", ["await asyncio.sleep(600)", "await never()", "time.sleep(600)"])
def test_a_server_that_waits_for_a_plugin_stops_on_a_signal(tmp_path: Path, enter: str, number: int) -> None:
    with serving(tmp_path, source(enter)) as server:
        server.entered()
        assert server.end(number) in (0, 1)


def test_a_plugin_that_does_not_start_in_time_is_skipped(tmp_path: Path) -> None:
    with serving(tmp_path, source("await asyncio.sleep(600)"), "[server]\nstart_timeout = 1\n") as server:
        document = server.started()
        assert httpx.get(f"{document['url']}/healthz").status_code == 200
        (plugin,) = (plugin for plugin in document["plugins"] if plugin["id"] == "hanging")
        assert (plugin["status"], plugin["error"]) == (
            "broken",
            "the lifespan connection did not start within 1 s",
        )
        assert server.logged("the server waits for a plugin")["plugin"] == "hanging"
        assert server.end() == 0


def test_a_plugin_that_blocks_start_up_is_interrupted_and_skipped(tmp_path: Path) -> None:
    with serving(tmp_path, source("time.sleep(600)"), "[server]\nstart_timeout = 2\n") as server:
        document = server.started()
        assert httpx.get(f"{document['url']}/healthz").status_code == 200
        (plugin,) = (plugin for plugin in document["plugins"] if plugin["id"] == "hanging")
        assert (plugin["status"], plugin["error"]) == (
            "broken",
            "the lifespan connection blocked the event loop for 2 s",
        )
        assert server.logged("a plugin failed")["reason"] == "blocked"
        assert server.end() == 0


def test_a_backend_that_does_not_open_is_reported(tmp_path: Path) -> None:
    config = "[server]\nstart_timeout = 1\n[cache]\nbackend = 'stubborn'\n"
    with serving(tmp_path, source(), config) as server:
        assert server.process.wait(30) == 1
        error = json.loads(server.process.stdout.read())["error"]
    assert error["message"] == "the cache backend 'stubborn' did not open within 1 s"
    assert "[server] start_timeout" in error["hint"]


ENDLESS = {
    "lifespan": source(leave="await asyncio.sleep(600)"),
    "stubborn_lifespan": source(leave="await never()"),
    "task": source("task = asyncio.create_task(never())"),
    "thread": source("threading.Thread(target=nap, name='mine').start()"),
    "executor": source("task = asyncio.create_task(asyncio.to_thread(nap))"),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_leftovers_of_a_plugin_do_not_prevent_shutdown(tmp_path: Path, case: str) -> None:
    with serving(tmp_path, ENDLESS[case], "[server]\nshutdown_timeout = 0\n") as server:
        server.started()
        assert server.end() == 0
        assert "hanging" in (tmp_path / "log").read_text()


def test_a_backend_that_blocks_on_close_does_not_prevent_shutdown(tmp_path: Path) -> None:
    config = "[server]\nshutdown_timeout = 0\n[cache]\nbackend = 'blocking'\n"
    with serving(tmp_path, source(), config) as server:
        server.started()
        assert server.end() == 0
        failure = server.logged("a plugin failed")
        assert (failure["plugin"], failure["point"], failure["reason"]) == ("hanging", "backend", "blocked")


def test_a_tool_that_resists_cancellation_does_not_prevent_shutdown(tmp_path: Path) -> None:
    module = source(tool='Path("entered").unlink(); await never()')
    with serving(tmp_path, module, "[server]\nshutdown_timeout = 0.2\n") as server:
        url = server.started()["url"]
        with httpx.Client(timeout=httpx.Timeout(30, read=0.5)) as client, pytest.raises(httpx.ReadTimeout):
            client.post(f"{url}/tools/hanging/api/generate", json={"text": "hello"})
        assert server.end() == 0
        assert "of plugin hanging" in str(server.logged("the process does not end by itself")["tasks"])


@pytest.mark.parametrize("tool", ["import os; os._exit(3)", "import os; await asyncio.to_thread(os._exit, 3)"])
def test_a_tool_that_tries_to_end_the_process_fails_only_its_own_call(tmp_path: Path, tool: str) -> None:
    with serving(tmp_path, source(tool=tool)) as server:
        url = server.started()["url"]
        response = httpx.post(f"{url}/tools/hanging/api/generate", json={"text": "hello"}, timeout=30)
        assert response.status_code == 500
        logged = server.logged("tool failed")
        assert (logged["plugin"], logged["tool"]) == ("hanging", "hanging")
        assert "it called os._exit(3)" in logged["exception"]
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert server.end() == 0


def test_a_plugin_that_blocks_the_event_loop_is_logged_and_counted(tmp_path: Path) -> None:
    with serving(tmp_path, source(tool="time.sleep(2)"), "[metrics]\ntoken = 'sesame'\n") as server:
        url = server.started()["url"]
        assert httpx.post(f"{url}/tools/hanging/api/generate", json={"text": "hi"}, timeout=30).status_code == 200
        entry = server.logged("the event loop is blocked", "plugin")
        assert (entry["plugin"], entry["tool"]) == ("hanging", "hanging")
        assert "plugin.py, line " in entry["at"]
        assert "plugin.py, line " in entry["stack"][0]
        metrics = httpx.get(f"{url}/metrics", headers={"Authorization": "Bearer sesame"}).text
        metric = next(line for line in metrics.splitlines() if line.startswith("pressroom_plugin_failures_total{"))
        assert 'plugin="hanging"' in metric
        assert 'point="event loop"' in metric
        assert metric.endswith(" 1.0")
        assert server.end() == 0
