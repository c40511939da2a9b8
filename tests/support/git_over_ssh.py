"""The forced command of `support.ssh_git_server`: runs git's own commands, after consulting the test.

Each connection starts this program. It imports only what every command needs: the usual modules for sockets, paths and
quoting take several times as long as the rest.
"""

from __future__ import annotations

import os
import sys
from _socket import socket
from io import BufferedReader


def main(port: str, root: str, access: str) -> int:
    """Run the requested git command and return its exit status."""
    service, _, quoted = os.environ["SSH_ORIGINAL_COMMAND"].partition(" ")
    folder = f"{root}/{unquoted(quoted).lstrip('/')}"
    lose = notify(int(port), service, os.environ.get("GIT_PROTOCOL", ""))
    if not os.path.exists(folder):  # noqa: PTH110 - see above
        return refuse("ERROR: Repository not found.")
    if access == "read" and service == "git-receive-pack":
        return refuse("ERROR: The key you are authenticating with has been marked as read only.")
    if not lose:
        escaped = folder.replace("'", "'\\''")  # git shell requires single quotes
        os.execvp("git", ["git", "shell", "-c", f"{service} '{escaped}'"])
    return lose_response(service.removeprefix("git-"), folder, lose)


def unquoted(text: str) -> str:
    """Return the path in an argument that is quoted as git quotes it."""
    assert len(text) > 1
    assert text[0] == text[-1] == "'"
    return text[1:-1].replace("'\\''", "'").replace("'\\!'", "!")


def notify(port: int, service: str, protocol: str) -> str:
    """Notify the test of a command, and return whether to lose the response: `before` it takes effect, or `after`."""
    connection = socket()
    connection.connect(("127.0.0.1", port))
    connection.sendall(f"{service} {protocol}\n".encode())
    reply = b""
    while not reply.endswith(b"\n"):
        part = connection.recv(64)
        assert part, "the test has ended"
        reply += part
    connection.close()
    return reply.decode().strip()


def refuse(message: str) -> int:
    """Print GitHub's error message, and fail."""
    sys.stderr.write(f"{message}\n")
    return 1


def lose_response(service: str, folder: str, lose: str) -> int:
    """Run a command without returning its response, or kill it `before` it takes effect; then fail."""
    import subprocess  # noqa: PLC0415 - see above

    with subprocess.Popen(["git", service, folder], stdout=subprocess.PIPE) as process:
        assert isinstance(process.stdout, BufferedReader)
        pass_advertisement(process.stdout)
        if lose == "before":
            process.kill()
        process.stdout.read()
    return 1


def pass_advertisement(source: BufferedReader) -> None:
    """Forward packet lines, up to and including a flush packet."""
    head = b""
    while head != b"0000":
        head = source.read(4)
        sys.stdout.buffer.write(head + source.read(max(int(head, 16) - 4, 0)))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
