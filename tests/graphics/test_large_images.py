"""Images that are small as files and huge as pixels."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.server import Server, serving
from support.tool_client import client_of

MIB = 1 << 20
CONFIG = "[plugins.content]\n[plugins.images]\n"


def png(side: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (side, side)).save(file, "PNG")
    return file.getvalue()


def most_memory(server: Server) -> int:
    """Return the peak memory of the server's own process, in bytes."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def upload_url(server: Server, key: str) -> str:
    params: dict[str, Any] = {"name": "create_upload_url", "arguments": {"content_type": "image/png"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = httpx.post(f"{server.url}/api/mcp", json=body, headers={"authorization": f"Bearer {key}"}, timeout=60)
    return server.url + httpx.URL(response.json()["result"]["structuredContent"]["upload_url"]).path


def test_large_images_are_not_decoded_in_the_server_process(tmp_path: Path) -> None:
    config: dict[str, Any] = {"plugins": {"content": {}, "images": {}}}
    with RunningHost(settings_for_test(config, tmp_path / "data")) as host:
        key = client_of(host, "attacker@example.com").key
    with serving(tmp_path, CONFIG) as server:
        assert httpx.put(upload_url(server, key), content=png(100), timeout=60).status_code == 201
        before = most_memory(server)
        large = png(7_700)
        statuses: list[int] = []
        uploads = [
            threading.Thread(target=lambda url: statuses.append(put(url, large)), args=(upload_url(server, key),))
            for _ in range(4)
        ]
        for upload in uploads:
            upload.start()
        for upload in uploads:
            upload.join()
        assert statuses == [201] * 4
        # Each image has 59 million pixels. Decoding four of them in the server's process took 900 MB.
        assert most_memory(server) - before < 60 * MIB


def put(url: str, content: bytes) -> int:
    return httpx.put(url, content=content, timeout=60).status_code
