"""The SEO plugin with its database, queue and fetcher, and nothing else of a host: quick to start and to kill.

Run as a script with a file of settings it works on jobs until it is killed.
"""

from __future__ import annotations

import asyncio
import json
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


def configuration(storage: dict[str, Any], **seo: Any) -> dict[str, Any]:
    """Return what the TOML file would hold."""
    return {
        "plugins": {"content": {}, "seo": {"config": {"own_hosts": ["127.0.0.1"], "lease_seconds": 1, **seo}}},
        "storage": {name: str(value) for name, value in storage.items()},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
        "jobs": {"poll_interval": 0.1},
    }


@asynccontextmanager
async def world(settings: Settings, *, works: bool) -> AsyncIterator[PluginContext]:
    """Give the plugin's context; with `works` this process runs jobs."""
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
                yield compiled.plugins.contexts["seo"]
            finally:
                await queue.close(5)
    finally:
        await database.close()


@contextmanager
def worker(config: dict[str, Any], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that works on jobs, and kill it in the end."""
    file = folder / "settings.json"
    file.write_text(json.dumps(config))
    process = subprocess.Popen([sys.executable, __file__, str(file), str(folder)])
    try:
        yield process
    finally:
        process.kill()
        process.wait(20)


async def _main(settings: Settings) -> None:
    async with world(settings, works=True):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(settings_for_test(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))))
