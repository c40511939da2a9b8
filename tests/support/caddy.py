"""Caddy with the documented configuration and its own certificate authority, in front of a server."""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from support.doc_examples import DOCS, blocks
from support.needs import free_port, program

_GLOBAL = "admin off\nlocal_certs\nskip_install_trust\n"


@dataclass(frozen=True, slots=True)
class RunningCaddy:
    """Caddy's HTTPS and plain HTTP ports, and a TLS context that trusts its certificates."""

    port: int
    plain_port: int
    trust: ssl.SSLContext

    def get(self, name: str, path: str, *, plain: bool = False) -> httpx.Response:
        """Request a path for a host name, as a browser would after resolving the name."""
        url = f"http://127.0.0.1:{self.plain_port}" if plain else f"https://127.0.0.1:{self.port}"
        with httpx.Client(verify=self.trust, timeout=60) as client:
            return client.get(f"{url}{path}", headers={"Host": name}, extensions={"sni_hostname": name})


def documented_caddy() -> str:
    """Return the Caddyfile from the guide to blogs on their own domains."""
    page = (DOCS / "how-to" / "blogs-on-their-own-domains.md").read_text()
    return next(block.text for block in blocks(page) if block.language == "caddyfile")


@contextmanager
def caddy(folder: Path, url: str, text: str) -> Iterator[RunningCaddy]:
    """Run Caddy with the configuration `text` in front of the server at `url`."""
    port, plain_port = free_port(), free_port()
    ports = f"http_port {plain_port}\nhttps_port {port}\ndefault_bind 127.0.0.1\n"
    file = folder / "Caddyfile"
    file.write_text(
        text.replace("{\n", f"{{\n{_GLOBAL}{ports}", 1).replace("127.0.0.1:8000", url.removeprefix("http://"))
    )
    environment = {**os.environ, "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "HOME": str(folder)}
    command = [program("caddy"), "run", "--config", str(file), "--adapter", "caddyfile"]
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stderr=log)
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=8)) as client:
            client.get(f"http://127.0.0.1:{plain_port}/")
        root = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        yield RunningCaddy(port, plain_port, ssl.create_default_context(cafile=str(root)))
    finally:
        process.terminate()
        process.wait(20)
