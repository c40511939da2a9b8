"""What git repositories are to the content plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pressroom.sdk import Fetcher
from pressroom_content.contract import CredentialField, Site, SiteAddress, SiteConnector, SiteRefused

from pressroom_git.config import GitConfig
from pressroom_git.folders import check_folders
from pressroom_git.github import GitHubRepository
from pressroom_git.layout import SiteLayout
from pressroom_git.local import LocalRepository
from pressroom_git.repository import Repository
from pressroom_git.site import CAPABILITIES, GitSite

_FOLDER: Final = r"(?!\.)[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*){0,5}"
_FIELDS: Final = (
    CredentialField(
        "repository",
        "Repository",
        "owner/name on GitHub, or the name of a repository that the operator of this server has listed.",
        secret=False,
        pattern=r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}|[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}",
    ),
    CredentialField(
        "token",
        "GitHub token",
        "A fine-grained token for this repository with the permission Contents: read and write. Not for a local one.",
        required=False,
        pattern=r"[A-Za-z0-9_]{20,255}",
    ),
    CredentialField(
        "branch",
        "Branch",
        "Empty: the repository's own.",
        secret=False,
        required=False,
        pattern=r"[A-Za-z0-9_][A-Za-z0-9_/-]{0,99}",
    ),
    CredentialField("generator", "Generator", secret=False, options=("hugo", "jekyll", "astro")),
    CredentialField(
        "front_matter", "Front matter", "TOML is for Hugo only.", secret=False, required=False, options=("yaml", "toml")
    ),
    CredentialField("content_folder", "Folder of posts", secret=False, required=False, pattern=_FOLDER),
    CredentialField("images_folder", "Folder of images", secret=False, required=False, pattern=_FOLDER),
    CredentialField(
        "permalink",
        "URLs of posts",
        "Such as /posts/{slug}/; {year}, {month}, {day} and {categories} work too. Empty: the generator's own.",
        secret=False,
        required=False,
        pattern=r"/([A-Za-z0-9._/-]|\{(slug|year|month|day|categories)\}){1,190}",
    ),
)


def connector(config: GitConfig) -> SiteConnector:
    """Return the connector for the repositories that the operator listed, and those on GitHub."""

    def open_site(address: SiteAddress, credential: Mapping[str, str], fetcher: Fetcher) -> Site:
        repository, layout = _repository(config, credential, fetcher), SiteLayout.of(credential)
        shared = isinstance(repository, LocalRepository)
        if shared:
            name = credential.get("repository", "")
            check_folders(layout, name, config.folders.get(name, ()))
        return GitSite(address, repository, layout, shared=shared)

    return SiteConnector(
        platform="git",
        title="Git",
        summary="A site that Hugo, Jekyll or Astro builds from a git repository, on GitHub or on this server.",
        open=open_site,
        capabilities=CAPABILITIES,
        fields=_FIELDS,
        markdown=True,
    )


def _repository(config: GitConfig, credential: Mapping[str, str], fetcher: Fetcher) -> Repository:
    name, branch = credential.get("repository", ""), credential.get("branch", "")
    if "/" in name:
        return GitHubRepository(config.github_api, name, branch, credential.get("token", ""), fetcher)
    folder = config.repositories.get(name)
    if folder is None:
        raise SiteRefused(
            f"this server has no repository named {name[:64]!r}",
            hint="Give owner/name for one on GitHub, or ask the operator which ones are listed.",
        )
    return LocalRepository(folder, name, branch, config.author)
