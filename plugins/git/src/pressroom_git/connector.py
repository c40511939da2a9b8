"""The connector that registers git repositories with the content plugin."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pressroom.sdk import Fetcher
from pressroom_content.contract import CredentialField, Site, SiteConnector, SiteInfo, SiteRefused

from pressroom_git.config import GitConfig
from pressroom_git.github import GitHubRepository
from pressroom_git.layout import SiteLayout, check_folders
from pressroom_git.local import LocalRepository
from pressroom_git.remote import HttpTransport, RemoteRepository
from pressroom_git.repository import Authorship, Repository
from pressroom_git.site import CAPABILITIES, GitSite
from pressroom_git.ssh_url import SSH_PATTERN, SshUrl, is_ssh

_FOLDER: Final = r"(?!\.)[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*){0,5}"
_HTTP_PATTERN: Final = r"https?://[^\s/?#@]{1,255}/[^\s?#@]{1,400}"
_NAME_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}|[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}"
_FIELDS: Final = (
    CredentialField(
        "repository",
        "Repository",
        "owner/name on GitHub, the https or SSH URL of a repository on GitLab, Gitea, Forgejo or another server, or "
        "the name of one that the operator of this server has listed.",
        secret=False,
        pattern=rf"{_HTTP_PATTERN}|{SSH_PATTERN}|{_NAME_PATTERN}",
    ),
    CredentialField(
        "token",
        "Token",
        "GitHub: a fine-grained token for this repository with the permission Contents: read and write. GitLab: "
        "write_repository. Gitea and Forgejo: repository, read and write. Not for SSH, nor for one on this server.",
        required=False,
        pattern=r"[!-~]{8,255}",
    ),
    CredentialField(
        "user",
        "User of the token",
        "Only where the server asks for one, such as Bitbucket: x-token-auth.",
        secret=False,
        required=False,
        pattern=r"[A-Za-z0-9_.@+-]{1,100}",
    ),
    CredentialField(
        "private_key",
        "Private key",
        "Only for SSH: a separate key without a passphrase, whose public part is a deploy key with write access in "
        "the repository. Paste the whole file.",
        required=False,
        multiline=True,
    ),
    CredentialField(
        "host_key",
        "Host key",
        "Only for SSH: what ssh-keyscan prints for the host, or the fingerprints that the host publishes, such as "
        "SHA256:… If empty, the check shows the host's key without using it.",
        secret=False,
        required=False,
        multiline=True,
    ),
    CredentialField(
        "branch",
        "Branch",
        "Empty: the repository's default.",
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
    CredentialField(
        "author",
        "Author of commits",
        "Such as Ada Baker <ada@example.org>. Empty: the owner of the token on GitHub, else this server's own.",
        secret=False,
        required=False,
        pattern=r"[^<>\x00-\x1f]{1,100} <[^<>\s\x00-\x1f]{1,100}>",
    ),
    CredentialField("sign_off", "Signed-off-by", secret=False, required=False, options=("no", "yes")),
)


def connector(config: GitConfig) -> SiteConnector:
    """Return the connector for repositories on GitHub, over HTTPS or SSH, and on this server's disk."""

    def open_site(info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> Site:
        repository = _repository(config, credential, fetcher, info.user_id)
        layout = SiteLayout.of(credential)
        shared = isinstance(repository, LocalRepository)
        if shared:
            name = credential.get("repository", "")
            check_folders(layout, name, config.folders.get(name, ()))
        site = GitSite(info, repository, layout, shared=shared)
        if isinstance(repository, RemoteRepository):
            repository.use_workers(site.run_in_worker)
        return site

    return SiteConnector(
        platform="git",
        title="Git",
        summary="A site that Hugo, Jekyll or Astro builds from a git repository, over HTTPS, SSH or on this server.",
        open=open_site,
        capabilities=CAPABILITIES,
        fields=_FIELDS,
        markdown=True,
        fidelity_by={"generator": FIDELITY},
    )


def _repository(config: GitConfig, credential: Mapping[str, str], fetcher: Fetcher, owner: str) -> Repository:
    name, branch = credential.get("repository", ""), credential.get("branch", "")
    token, author, sign_off = (
        credential.get("token", ""),
        credential.get("author", ""),
        credential.get("sign_off") == "yes",
    )
    authorship = Authorship(author or config.author, sign_off=sign_off)
    if is_ssh(name):
        from pressroom_git.ssh import SshTransport  # noqa: PLC0415 - asyncssh loads when a website first needs it

        key, host_key = credential.get("private_key", ""), credential.get("host_key", "")
        over_ssh = SshTransport(fetcher, SshUrl.parse(name), key, host_key)
        return RemoteRepository(over_ssh, name, branch, authorship, owner)
    if name.startswith(("https://", "http://")):
        over_http = HttpTransport(fetcher, name, credential.get("user", ""), token)
        return RemoteRepository(over_http, name, branch, authorship, owner)
    if "/" in name:
        if sign_off and not author:
            raise SiteRefused("commits on GitHub can be signed off only by an author; fill in the author of commits")
        return GitHubRepository(config.github_api, name, branch, token, fetcher, authorship if author else None)
    folder = config.repositories.get(name)
    if folder is None:
        raise SiteRefused(
            f"this server has no repository named {name[:64]!r}",
            hint="Give owner/name for one on GitHub, or ask the operator which ones are listed.",
        )
    return LocalRepository(folder, name, branch, config.author, authorship)


FIDELITY: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "astro": {
            "typography": "converted: quotes, dashes and dots are set as in print",
        },
        "hugo": {
            "inline_elements": "lost with a warning",
            "captions": "converted: a paragraph below the image",
            "definition_lists": "lost with a warning",
            "details": "lost with a warning",
            "embeds": "converted: a link",
            "direction": "lost with a warning",
            "languages": "lost with a warning",
            "typography": "converted: quotes, dashes and dots are set as in print",
            "merged_cells": "converted: cells are by themselves",
            "direction_of_blocks": "lost with a warning",
        },
        "jekyll": {
            "typography": "converted: quotes, dashes and dots are set as in print",
        },
    }
)
"""The constructs that readers do not see as written, by generator. Generated by the fidelity tests."""
