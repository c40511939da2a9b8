"""Background jobs, in a process that has not loaded their dependencies."""

from __future__ import annotations

import subprocess
import sys

IMPORTS = """
import asyncio, sys, threading
from contextlib import suppress
from types import SimpleNamespace
from pressroom_seo.config import SeoConfig
from pressroom_seo.plugin import pressroom_jobs

class Watch:
    def find_spec(self, name, path, target=None):
        if threading.current_thread() is threading.main_thread() and name.startswith("pressroom_seo"):
            print(name)

async def main():
    for job in pressroom_jobs(SimpleNamespace(config=SeoConfig())):
        sys.meta_path.insert(0, Watch())
        with suppress(AttributeError):  # there is no server that it could work on
            await job.run(SimpleNamespace(payload={}))
        sys.meta_path.pop(0)

asyncio.run(main())
assert "pressroom_seo.site_checks" in sys.modules
assert "pressroom_seo.live_pages" in sys.modules
"""


def test_the_event_loop_does_not_wait_while_the_parsers_are_loaded() -> None:
    completed = subprocess.run(
        [sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=False, timeout=120
    )
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")
