"""A real PgBouncer in front of a test's database."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from support.needs import free_port, program

_CONFIG = """
[databases]
* = host={host} port={port} pool_size={size}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
pool_mode = transaction
auth_type = any
auth_file =
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
logfile =
pidfile =
"""


@contextmanager
def pgbouncer(folder: Path, url: str, *, size: int = 2) -> Iterator[str]:
    """Run PgBouncer with `size` connections to the server, and yield the URL of the database behind it."""
    parts = urlsplit(url)
    own_port = free_port()
    folder.mkdir()
    file = folder / "pgbouncer.ini"
    database = f"{parts.path.lstrip('/')} = host={parts.hostname} port={parts.port or 5432} user={parts.username}"
    text = _CONFIG.replace("* = host={host} port={port}", database)
    file.write_text(text.format(size=size, own_port=own_port))
    command = [program("pgbouncer"), str(file)]
    if os.geteuid() == 0:  # PgBouncer refuses to run as root
        user = pwd.getpwnam("nobody").pw_name
        command = [command[0], "--user", user, str(file)]
        file.chmod(0o644)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines = []
    try:
        for line in process.stderr:
            lines.append(line)
            if "process up" in line:
                break
        else:
            raise RuntimeError("PgBouncer did not start:\n" + "".join(lines))
        yield parts._replace(netloc=f"{parts.username}@127.0.0.1:{own_port}").geturl()
    finally:
        process.terminate()
        process.communicate(timeout=20)
