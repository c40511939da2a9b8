"""nginx with the documented configuration, in front of a running server."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from support.doc_examples import DOCS, blocks
from support.needs import free_port, program
from support.origins import Authority


def documented_nginx() -> str:
    """Return the configuration from the guide to proxies."""
    page = (DOCS / "how-to" / "behind-a-proxy.md").read_text()
    return next(block.text for block in blocks(page) if block.language == "nginx")


def documented_domains() -> str:
    """Return the configuration from the guide to blogs on their own domains."""
    page = (DOCS / "how-to" / "blogs-on-their-own-domains.md").read_text()
    return "".join(block.text for block in blocks(page) if block.language == "nginx")


@contextmanager
def nginx(
    folder: Path, url: str, *, port: int = 0, authority: Authority | None = None, text: str = "", plain_port: int = 0
) -> Iterator[str]:
    """Run nginx in front of the server at `url`, and yield its own URL.

    `port` is its HTTPS port, by default a free one; `authority` signs its certificate, for 127.0.0.1 too. `text` is the
    configuration, by default that of the guide to proxies; `plain_port` is its plain HTTP port.
    """
    port = port or free_port()
    (authority or Authority()).server_context(folder, "tools.example.com", "127.0.0.1")
    certificate = folder / "tools.example.com.pem"
    text = re.sub(
        r"listen 80( default_server)?;", rf"listen 127.0.0.1:{plain_port or free_port()}\1;", text or documented_nginx()
    )
    text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
    text = re.sub(r"(ssl_certificate(?:_key)?) \S+;", rf"\1 {certificate};", text)
    text = text.replace("http://127.0.0.1:8000", url)
    paths = "".join(
        f"{name}_temp_path {folder / name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off;\npid {folder / 'nginx.pid'};\nerror_log {folder / 'error.log'};\nevents {{}}\n"
        f"http {{\naccess_log off;\n{paths}{text}}}\n"
    )
    command = [program("nginx"), "-p", str(folder), "-c", str(file)]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    process = subprocess.Popen([*command, "-g", "user root;" if os.geteuid() == 0 else ""])
    try:
        with httpx.Client(verify=False, transport=httpx.HTTPTransport(verify=False, retries=8)) as client:
            client.get(f"https://127.0.0.1:{port}/healthz").raise_for_status()
        yield f"https://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)
