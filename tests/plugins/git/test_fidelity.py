"""What readers of a site that Hugo builds get of every construct that an article may hold."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from pressroom.testing.running import settings_for_test
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.verifying import look
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from support.fidelity import compare, notes_of, publish_everything
from support.installing import on_path
from support.needs import program
from support.origins import Visit, origin
from support.publishing_world import ADA, configuration, world
from support.standin_plugin import distribution

from .conftest import Repo


async def test_what_readers_get(repo: Repo, tmp_path: Path) -> None:
    hugo, page = program("hugo"), b""
    repo.edit("hugo.toml", 'title = "Test"\n')
    repo.edit("config.toml", 'title = "Test"\n')
    layout = "<html><title>{{ .Title }}</title><body><main><h1>{{ .Title }}</h1>{{ .Content }}</main></body></html>"
    repo.edit("layouts/_default/single.html", layout)
    config = configuration({}, lease_seconds=60)  # this process does the work of the workers besides
    config["plugins"]["git"] = {"config": {"repositories": {"blog": str(repo.folder)}}}

    async def reply(visit: Visit) -> None:
        await visit.answer(page, "Content-Type: text/html", status="200 OK" if page else "404 Not Found")

    async with origin(reply) as pages:
        url, credential = f"http://127.0.0.1:{pages.port}", {"repository": "blog", "generator": "hugo"}
        with on_path(distribution(tmp_path / "site")):
            async with world(settings_for_test(config, tmp_path / "data")) as plugin:
                done = await publish_everything(plugin, "git", url, credential)
                assert any("is being built" in one for one in done.warnings)
                output = tmp_path / "public"
                command = [hugo, "-s", str(repo.folder), "-d", str(output), "-b", url]
                await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True, timeout=60)
                page = (output / done.url.removeprefix(f"{url}/") / "index.html").read_bytes()
                await look(plugin, done)
                done = await Publications(plugin).get(ADA, done.id)
                notes = await notes_of(plugin, done, page.decode())
    compare(notes, connector(GitConfig()), "git/src/pressroom_git/fidelity.py")
