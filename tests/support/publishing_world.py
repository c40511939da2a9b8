"""The content plugin with its database, queue and fetcher, and nothing else of a host: quick to start and to kill.

Run as a module it reads lines from standard input: for each one it forks a process that works on publications until it
is killed, and answers with its process id.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from pressroom.compiled import Compiled
from pressroom.config import Settings
from pressroom.fetch import GuardedFetcher
from pressroom.jobs.queue import JobQueue
from pressroom.sdk import Job, PluginContext
from pressroom.storage.database import SqlDatabase
from pressroom.testing.running import settings_for_test
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.websites.store import Websites

from support.installing import on_path
from support.standin_plugin import PHOTO, PLATFORM, distribution

ADA = "u_ada"
QUICK = {"settle_seconds": 0.5, "lease_seconds": 1}

BODY = f"""Some words about **publishing**, and [a link](https://example.com/).

![A photo](https://library.example/{PHOTO}.png)

- one
- two
"""


def configuration(storage: dict[str, Any], **content: Any) -> dict[str, Any]:
    """Return what the TOML file would hold."""
    return {
        "plugins": {"content": {"config": {**QUICK, **content}}, "standin": {}},
        "storage": {name: str(value) for name, value in storage.items()},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
        "jobs": {"poll_interval": 0.1},
    }


@asynccontextmanager
async def world(settings: Settings, *, works: bool = True) -> AsyncIterator[PluginContext]:
    """Give the content plugin's context; with `works` this process runs jobs."""
    compiled = Compiled(settings)
    broken = [f"{record.id}: {record.error}" for record in compiled.plugins.failed if record.id in settings.plugins]
    assert not broken, broken
    database = SqlDatabase(settings)
    await database.open()
    try:
        await compiled.migrator(database).migrate()
        kinds = [one.record for one in compiled.plugins.contributions.of(Job)]
        jobs = settings.jobs if works else settings.jobs.model_copy(update={"concurrency": 0})
        queue = JobQueue(database, kinds, jobs, backoff=0.1)
        async with GuardedFetcher(private_networks=settings.fetch.private_networks) as fetcher:
            compiled.plugins.services.fill(database, queue, fetcher)
            await queue.open()
            try:
                yield compiled.plugins.contexts["content"]
            finally:
                await queue.close(5)
    finally:
        await database.close()


async def connect(plugin: PluginContext, url: str, token: str, *, name: str = "Stand-in", **fields: str) -> str:
    """Keep a website on the stand-in platform without a check, and return its id."""
    made = await Websites(plugin).add(
        ADA, PLATFORM, name=name, url=url, credential={"token": token, **fields}, finding=None
    )
    return made.id


async def write(plugin: PluginContext, **fields: Any) -> str:
    """Write an article, and return its id."""
    values = {
        "title": "Hello world",
        "body": BODY,
        "tags": ("news", "tools"),
        "categories": ("Engineering",),
        "excerpt": "In a few words.",
        "meta_title": "Hello",
        "featured_media_id": PHOTO,
        "meta_description": "Everything about hello.",
    }
    made = await Articles(plugin).create(ADA, Draft(**{**values, **fields}))
    return made.article.id


class Workers:
    """Processes that work on publications, forked from one that has imported everything."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pids: set[int] = set()

    def start(self) -> int:
        """Start one, and return its process id once it works."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("start\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        self.pids.add(pid)
        return pid

    def kill(self, pid: int) -> None:
        """Send SIGKILL, and return once the process is gone."""
        os.kill(pid, signal.SIGKILL)
        self.gone(pid)

    def gone(self, pid: int) -> None:
        """Wait until a process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"wait {pid}\n")
        self._process.stdin.flush()
        assert int(self._process.stdout.readline()) == pid
        self.pids.discard(pid)


@contextmanager
def workers(folder: Path, config: dict[str, Any]) -> Iterator[Workers]:
    """Give processes that work on the publications of a database."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "support.publishing_world", str(folder), json.dumps(config)]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    made = Workers(process)
    try:
        yield made
    finally:
        for pid in list(made.pids):
            made.kill(pid)
        process.communicate("", 20)


def _serve(folder: Path, config: dict[str, Any]) -> None:
    with on_path(distribution(folder / "site")):
        settings = settings_for_test(config, folder / "data")
        Compiled(settings)  # everything is imported before the forks
        alive, held = os.pipe()
        for line in sys.stdin:
            word, _, pid = line.strip().partition(" ")
            if word == "wait":
                os.waitpid(int(pid), 0)
                _tell(pid)
                continue
            ready, tell = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(ready)
                os.close(held)
                os.dup2(2, 1)  # what it logs is none of our answers
                asyncio.run(_work(settings, tell, alive))
                os._exit(0)
            os.close(tell)
            os.read(ready, 1)
            os.close(ready)
            _tell(str(child))


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def _work(settings: Settings, tell: int, alive: int) -> None:
    async with world(settings):
        os.write(tell, b".")
        # The other end is closed once the process that forked this one is gone, however it ended.
        asyncio.get_running_loop().add_reader(alive, os._exit, 0)
        await asyncio.Event().wait()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), json.loads(sys.argv[2]))
