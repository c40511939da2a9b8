"""Parser for SSH URLs of repositories, in both of git's forms (git-scm.com/docs/git-clone, "Git URLs")."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import unquote

from pressroom_content.contract import SiteRefused

_USER: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}"
_HOST: Final = r"[A-Za-z0-9.-]{1,253}"
_IPV6: Final = r"\[[0-9A-Fa-f:.]{2,45}\]"
_PATH: Final = r"[^\s?#\x00-\x1f\x7f]{1,400}"

SSH_PATTERN: Final = rf"ssh://({_USER}@)?({_HOST}|{_IPV6})(:[1-9][0-9]{{0,4}})?/{_PATH}|{_USER}@{_HOST}:{_PATH}"
"""A pattern for both forms, for the credential field."""

_URL = re.compile(
    rf"ssh://(?:(?P<user>{_USER})@)?(?P<host>{_HOST}|{_IPV6})(?::(?P<port>[1-9][0-9]{{0,4}}))?(?P<path>/{_PATH})"
)
_SHORT = re.compile(rf"(?P<user>{_USER})@(?P<host>{_HOST}):(?P<path>{_PATH})")
_DEFAULT_PORT: Final = 22
_DEFAULT_USER: Final = "git"
_MAX_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class SshUrl:
    """The SSH URL of a repository: `ssh://git@host:22/path` or `git@host:path`."""

    user: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a URL. Raises `SiteRefused` if it is invalid."""
        url_match = _URL.fullmatch(text)
        match = url_match or _SHORT.fullmatch(text)
        if match is None:
            raise SiteRefused(
                "the URL of the repository cannot be read",
                hint="Write ssh://git@git.example.org/group/blog.git or git@git.example.org:group/blog.git.",
            )
        port = int((url_match["port"] if url_match else "") or _DEFAULT_PORT)
        path = unquote(match["path"]) if url_match else match["path"]
        if url_match and path.startswith("/~"):
            path = path[1:]  # relative to a user's home folder
        if port > _MAX_PORT or path.startswith("-") or not path.isprintable():
            raise SiteRefused(f"the repository's port is more than {_MAX_PORT}, or its path cannot be a path")
        return cls(match["user"] or _DEFAULT_USER, match["host"].strip("[]").lower(), port, path)

    @property
    def authority(self) -> str:
        """The host, with its port unless that is 22."""
        return self.host if self.port == _DEFAULT_PORT else f"{self.host}:{self.port}"

    def command(self, service: str) -> str:
        """Return the command that serves the repository, quoted as git does.

        The server may not use a shell: programs such as `git-shell` only understand this form of quoting.
        """
        quoted = self.path.replace("'", "'\\''").replace("!", "'\\!'")
        return f"{service} '{quoted}'"


def is_ssh(repository: str) -> bool:
    """Return whether a repository is given as an SSH URL."""
    return repository.startswith("ssh://") or _SHORT.fullmatch(repository) is not None
