"""Repositories on the local disk, created and inspected with Git itself."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import Post, Site, SiteInfo
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from support.needs import program

_numbers = count(1)
_IDENTITY = ("-c", "user.name=Editor", "-c", "user.email=editor@example.org", "-c", "commit.gpgsign=false")


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository; `git` runs Git in it."""

    folder: Path

    def git(self, *arguments: str) -> str:
        command = [program("git"), "-C", str(self.folder), *_IDENTITY, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def show(self, path: str) -> str:
        return self.git("show", f"HEAD:{path}")

    def edit(self, path: str, content: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(content)
        self.git("add", "--", path)
        self.git("commit", "-qm", "An editor's own")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repository = Repo(tmp_path / "blog")
    repository.folder.mkdir()
    repository.git("init", "-q", "-b", "main")
    return repository


def site_of(repo: Repo, generator: str = "hugo", **fields: str) -> Site:
    site_connector = connector(GitConfig(repositories={"blog": repo.folder}))
    info = SiteInfo("w_1", "u_1", "Test", "https://blog.example.org")
    return site_connector.open(info, {"repository": "blog", "generator": generator, **fields}, GuardedFetcher())


def a_post(**fields: Any) -> Post:
    number = next(_numbers)
    values: dict[str, Any] = {
        "marker": f"pr-{number:024x}",
        "title": f"Cold brew & “friends” {number}",
        "slug": f"cold-brew-{number}",
        "html": "<p>Coffee, <strong>cold</strong>.</p>",
        "markdown": "Coffee, **cold**.",
    }
    return Post(**{**values, **fields})
