"""A git server over SSH: OpenSSH's server, running git's own commands."""

from __future__ import annotations

import getpass
import os
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from support.git_server import GitServer
from support.needs import program

_SCRIPT = Path(__file__).with_name("git_over_ssh.py")
_CONFIGURATION = """
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
AllowUsers {user}
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PidFile none
SetEnv SHLVL=2
StrictModes no
UsePAM no
"""
"""`SHLVL=2` keeps bash from reading `~/.bashrc`, which it does for a first shell in an SSH connection."""


def new_key(file: Path, *options: str) -> str:
    """Create a key pair with `ssh-keygen`, and return the private key; the public key is in `file.pub`."""
    kind = options or ("-t", "ed25519")
    command = [program("ssh-keygen"), "-q", "-N", "", *kind, "-C", "", "-f", str(file)]
    subprocess.run(command, check=True)
    return file.read_text()


@dataclass(slots=True)
class SshGitServer(GitServer):
    """A bare repository, served over SSH. `old_protocol` emulates servers that ignore `GIT_PROTOCOL`."""

    keys: Path = field(default_factory=Path)
    private_key: str = ""
    reading_key: str = ""
    """A key with read-only access."""

    host_key: str = ""
    """The output of `ssh-keyscan` for the server."""

    protocols: list[str] = field(default_factory=list)
    """Accepted values of the clients' `GIT_PROTOCOL`."""

    log: Path = field(default_factory=Path)
    hears_at: int = 0
    """The port on which the test is notified of each command before it runs."""

    @property
    def url(self) -> str:
        """The URL of the repository."""
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}/group/blog.git"

    @property
    def credential(self) -> dict[str, str]:
        """The credential for connecting the repository."""
        return {"repository": self.url, "private_key": self.private_key, "host_key": self.host_key}

    def fingerprint(self) -> str:
        """Return the fingerprint of the host key, as OpenSSH prints it."""
        command = [program("ssh-keygen"), "-l", "-f", str(self.keys / "host_key.pub")]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[1]

    def allow(self, public_key: str, access: Literal["read", "write"]) -> None:
        """Authorise a key to run git's commands."""
        command = f"{sys.executable} -I -S {_SCRIPT} {self.hears_at} {self.folder} {access}"
        with (self.keys / "authorized_keys").open("a") as file:
            file.write(f'command="{command}",restrict {public_key.strip()}\n')


class _Asking(socketserver.ThreadingTCPServer):
    """Receives notice of each command before it runs."""

    daemon_threads = True
    git: SshGitServer


class _Heard(socketserver.StreamRequestHandler):
    server: _Asking

    def handle(self) -> None:
        git, (service, _, protocol) = self.server.git, self.rfile.readline().decode().strip("\n").partition(" ")
        git.requests.append(service)
        git.protocols.append(protocol)
        lose = ""
        if service == "git-receive-pack":
            run, git.before_push = git.before_push, None
            lose, git.lose = git.lose, ""
            if run is not None:
                run()
        self.wfile.write(f"{lose}\n".encode())


@contextmanager
def serving_git_over_ssh(folder: Path, *, filters: bool = True) -> Iterator[SshGitServer]:
    """Serve a new repository, with or without support for partial clone filters."""
    sshd = program("sshd")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # usually created by the system's service
    keys = folder / "keys"
    keys.mkdir(parents=True)
    private_key, reading_key = new_key(keys / "deploy_key"), new_key(keys / "reading_key")
    new_key(keys / "host_key")
    configuration = _CONFIGURATION.format(folder=keys, user=getpass.getuser())
    (keys / "old").write_text(configuration)
    (keys / "new").write_text(f"{configuration}AcceptEnv GIT_PROTOCOL\n")
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    host_key = f"[127.0.0.1]:{port} {(keys / 'host_key.pub').read_text()}"
    git = SshGitServer(
        folder, port, keys=keys, private_key=private_key, reading_key=reading_key, host_key=host_key, log=keys / "log"
    )
    git.bare.mkdir(parents=True)
    git.git("init", "-q", "--bare", "-b", "main")
    git.git("config", "uploadpack.allowFilter", str(filters).lower())
    running: list[subprocess.Popen[bytes]] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, git.log.open("ab") as log:
                command = [sshd, "-i", "-e", "-f", str(keys / ("old" if git.old_protocol else "new"))]
                running.append(
                    subprocess.Popen(command, stdin=connection.fileno(), stdout=connection.fileno(), stderr=log)
                )

    with _Asking(("127.0.0.1", 0), _Heard) as asking:
        asking.git = git
        git.hears_at = asking.server_address[1]
        git.allow((keys / "deploy_key.pub").read_text(), "write")
        git.allow((keys / "reading_key.pub").read_text(), "read")
        threads = [
            threading.Thread(target=asking.serve_forever, args=(0.02,), daemon=True),
            threading.Thread(target=accept, daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            yield git
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            for process in running:
                with suppress(ProcessLookupError):
                    process.kill()
                process.wait()
            asking.shutdown()
            for thread in threads:
                thread.join()
