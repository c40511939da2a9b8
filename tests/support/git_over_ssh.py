"""The forced command of `support.ssh_git_server`: runs git's own commands, after consulting the test."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO


def main(port: str, root: str, access: str) -> int:
    """Run the requested git command and return its exit status."""
    service, path = shlex.split(os.environ["SSH_ORIGINAL_COMMAND"])
    folder = Path(root) / path.lstrip("/")
    with socket.create_connection(("127.0.0.1", int(port))) as test, test.makefile("rwb") as stream:
        stream.write(json.dumps({"service": service, "protocol": os.environ.get("GIT_PROTOCOL", "")}).encode() + b"\n")
        stream.flush()
        lose = json.loads(stream.readline())["lose"]
    if not folder.exists():
        return refuse("ERROR: Repository not found.")
    if access == "read" and service == "git-receive-pack":
        return refuse("ERROR: The key you are authenticating with has been marked as read only.")
    quoted = str(folder).replace("'", "'\\''")  # git shell requires single quotes
    command = ["git", "shell", "-c", f"{service} '{quoted}'"]
    if not lose:
        os.execvp(command[0], command)
    with subprocess.Popen(["git", service.removeprefix("git-"), str(folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pass_advertisement(process.stdout, sys.stdout.buffer)
        if lose == "before":
            process.kill()
        process.stdout.read()
    return 1


def refuse(message: str) -> int:
    """Print GitHub's error message, and fail."""
    sys.stderr.write(f"{message}\n")
    return 1


def pass_advertisement(source: IO[bytes], target: IO[bytes]) -> None:
    """Forward packet lines, up to and including a flush packet."""
    while True:
        head = source.read(4)
        target.write(head + source.read(max(int(head, 16) - 4, 0)))
        if head == b"0000":
            break
    target.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
