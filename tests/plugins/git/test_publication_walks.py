"""Random walks of articles through the states of their posts in a repository, using the tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.plain_site import plain_site
from support.publication_walks import OwnersPost, walk, walking

from .conftest import Repo

pytestmark = pytest.mark.timeout(3600)


@pytest.fixture
def url() -> Iterator[str]:
    """The URL of the site, which is not actually built here."""
    with plain_site() as site:
        yield site.url


@pytest.mark.parametrize("generator", ["hugo", "jekyll", "astro"])
def test_the_reported_state_is_that_of_the_repository_after_every_step(
    repo: Repo, url: str, tmp_path: Path, generator: str
) -> None:
    repo.edit("README.md", "A blog.\n")

    def front(path: str) -> dict[str, Any]:
        _, text, _ = repo.show(path).split("---\n", 2)
        read: dict[str, Any] = yaml.safe_load(text)
        return read

    def posts(word: str) -> Sequence[OwnersPost]:
        paths = [path for path in repo.git("ls-files").splitlines() if path.endswith(".md") and path != "README.md"]
        assert repo.git("status", "--porcelain") == ""
        fronts = {path: front(path) for path in paths if word.lower() in path}
        return [
            OwnersPost(path, "draft" if is_draft(members) else "live", members["title"])
            for path, members in fronts.items()
        ]

    def is_draft(members: dict[str, Any]) -> bool:
        return members.get("published") is False if generator == "jekyll" else members.get("draft") is True

    def owner_moves(post: str, state: str) -> None:
        if state == "gone":
            repo.git("rm", "-q", "--", post)
            repo.git("commit", "-qm", "An editor's own")
        elif not is_draft(front(post)):
            flag = ("published: true", "published: false") if generator == "jekyll" else ("draft: false", "draft: true")
            repo.edit(post, repo.show(post).replace(*flag, 1))

    with walking(
        tmp_path,
        "git",
        url,
        {"repository": "blog", "generator": generator},
        posts,
        downs=("draft", "delete"),
        refused=["trash"],
        schedules=False,
        owner_moves=owner_moves,
        owner_states=("draft", "gone"),
        config={"repositories": {"blog": str(repo.folder)}},
    ) as walked:
        walk(walked)
