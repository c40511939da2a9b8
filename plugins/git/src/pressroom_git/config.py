"""Operator settings: `[plugins.git.config]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pressroom.sdk import PluginConfig
from pydantic import Field

RepositoryName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")]
FolderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$")]


class GitConfig(PluginConfig):
    """The available repositories, and the author of commits."""

    repositories: Mapping[RepositoryName, Path] = Field(
        default_factory=dict,
        description=(
            "Repositories on this server's disk, by the names that users select them by. Every account may publish to "
            "each of them."
        ),
    )
    folders: Mapping[RepositoryName, Annotated[tuple[FolderName, ...], Field(min_length=1)]] = Field(
        default_factory=dict,
        description=(
            "Folders in which posts may be written, by the name of the repository. For repositories that are not "
            "listed: `content` (Hugo), `_posts` and `_drafts` (Jekyll), `src/content` (Astro). Files that a "
            "generator runs, such as templates, must not be in these folders."
        ),
    )
    github_api: str = Field(
        "https://api.github.com",
        pattern=r"^https?://[^\s?#]{1,200}[^\s?#/]$",
        description="URL of GitHub's API, without a slash at its end; that of GitHub Enterprise ends in /api/v3.",
    )
    author: str = Field(
        "Pressroom <pressroom@localhost>",
        pattern=r"^[^<>\x00-\x1f]{1,100} <[^<>\s\x00-\x1f]{1,100}>$",
        description="Author of commits, unless users name one. On GitHub, it is the owner of the token.",
    )
