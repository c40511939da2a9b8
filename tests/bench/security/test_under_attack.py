"""Latency of other users while one attacker repeats requests that once stopped the server.

On a real server, another account reads an article, an anonymous caller makes QR codes, and a probe polls the health
check. The 99th percentile of each stays below ten times that of an idle server, and the memory of the server's own
process stays below 500 MB.
"""

from __future__ import annotations

import asyncio
import io
import json
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.websites.store import Websites
from support.content_client import Client, client_of
from support.plain_site import PlainSite, plain_site
from support.server import Server, serving

SECONDS = 8.0
PAUSE = 0.02
SLOW_SITES = 4
MAX_RATIO = 10
MAX_BYTES = 500_000_000
MIN_MILLISECONDS = 5.0
"""Floor for the percentiles of an idle server: ten times almost nothing is still nothing."""

CONFIG = """
[server]
trusted_proxies = 1
[logging]
format = "text"
[fetch]
private_networks = ["127.0.0.0/8"]
[plugins.content]
[plugins.images]
[plugins.seo]
"""
VICTIM, ATTACKER = {"x-forwarded-for": "192.0.2.1"}, {"x-forwarded-for": "198.51.100.1"}


@dataclass(frozen=True)
class World:
    """A running server with its victim and attacker accounts."""

    server: Server
    victim_key: str
    article: str
    attacker_key: str
    target: str
    version: int
    slow_sites: tuple[str, ...]
    page: str


def _seeded(folder: Path, slow: Sequence[PlainSite], strange: PlainSite) -> dict[str, Any]:
    """Create two accounts with an article each, in the future data folder of the server.

    The attacker also connects websites: some that request a long crawl delay, and one with an unusual charset.
    """
    config: dict[str, Any] = {"plugins": {"content": {}, "images": {}, "seo": {}}}
    with RunningHost(settings_for_test(config, folder / "data")) as host:
        victim, attacker = client_of(host, "victim@example.com"), client_of(host, "attacker@example.com")
        article = victim.data("create_content", title="Tea", body="Tea is hot. " * 200)["content_id"]
        one = attacker.data("create_content", title="Hostile", body="\n".join(["!!!a" * 120] * 500))
        attacker.data(
            "update_content",
            content_id=one["content_id"],
            expected_version=1,
            fields={"body": "\n".join(["!!!b" * 120] * 500)},
        )
        websites = [_connected(attacker, site) for site in (*slow, strange)]
        return {
            "victim_key": victim.key,
            "article": article,
            "attacker_key": attacker.key,
            "target": one["content_id"],
            "version": 2,
            "slow_sites": tuple(websites[:-1]),
            "page": f"{strange.url}/page",
        }


def _connected(client: Client, site: PlainSite) -> str:
    websites = Websites(client.plugin)
    added = websites.add(client.user_id, "wordpress", name="Site", url=site.url, credential={"key": "x"})
    return client.host.run(added).id


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("attacked")
    with ExitStack() as running:
        *slow, strange = [running.enter_context(plain_site()) for _ in range(SLOW_SITES + 1)]
        for site in slow:
            site.files = {"/": b"<p>Tea", "/robots.txt": b"User-agent: *\nCrawl-delay: 60\n"}
        strange.files = {"/page": b'<meta charset="punycode"><p>' + b"a-" * 80_000}
        seeded = _seeded(folder, slow, strange)
        yield World(running.enter_context(serving(folder, CONFIG, forked=False)), **seeded)


async def _tool(client: httpx.AsyncClient, key: str, name: str, **arguments: Any) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"authorization": f"Bearer {key}", "mcp-protocol-version": "2025-06-18"}
    response = await client.post("/api/mcp", json=body, headers=headers)
    result: dict[str, Any] = response.json().get("result", {})
    return result


Attack = Callable[[httpx.AsyncClient, World], Awaitable[object]]


async def _edits(client: httpx.AsyncClient, world: World) -> None:
    many = [{"find": "!", "replace": "!" * 1000, "all": True}, {"find": "!", "replace": "!" * 700, "all": True}]
    key = world.attacker_key
    await _tool(client, key, "update_content", content_id=world.target, expected_version=world.version, edits=many)


async def _white_space(client: httpx.AsyncClient, world: World) -> None:
    body = f"<pre>a{' ' * 60_000}b</pre>"
    await _tool(
        client, world.attacker_key, "check_blog_seo", article={"title": "a", "body": body, "body_format": "html"}
    )


async def _versions(client: httpx.AsyncClient, world: World) -> None:
    await _tool(client, world.attacker_key, "get_content", content_id=world.target, version=2, compare_with=1)


async def _nested_form(client: httpx.AsyncClient, _world: World) -> None:
    opened = b"".join(
        b"--b%d\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n" % (depth, depth + 1) for depth in range(900)
    )
    headers = {"content-type": "multipart/form-data; boundary=b0"}
    await client.post(f"/media/upload/{secrets.token_urlsafe(8)}", content=opened + b"a\r\n" * 20_000, headers=headers)


async def _runs_that_fail(client: httpx.AsyncClient, _world: World) -> None:
    html = f"<svg xmlns='http://www.w3.org/2000/svg'><style>url({' ' * 9_700}</style></svg>"
    await client.post("/tools/image-generator/api/generate", json={"html": html + secrets.token_hex(4)})


async def _crawls(client: httpx.AsyncClient, world: World) -> None:
    for website in world.slow_sites:
        await _tool(client, world.attacker_key, "get_seo_report", website_id=website, refresh=True)


async def _charsets(client: httpx.AsyncClient, world: World) -> None:
    await _tool(client, world.attacker_key, "import_content", url=world.page)


async def _exports(client: httpx.AsyncClient, world: World) -> None:
    await _tool(client, world.attacker_key, "export_content", format="json")


async def _slow_heads(_client: httpx.AsyncClient, world: World) -> None:
    address = httpx.URL(world.server.url)
    writers: list[asyncio.StreamWriter] = []
    try:
        for _ in range(50):
            _, writer = await asyncio.open_connection(address.host, address.port)
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n")
            writers.append(writer)
        for _ in range(20):
            for writer in writers:
                writer.write(b"a: b\r\n")
            await asyncio.sleep(0.1)
    finally:
        for writer in writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)


async def _nested_json(client: httpx.AsyncClient, _world: World) -> None:
    value = "[" + ",".join(["[" * 50 + "]" * 50] * 41_000) + "]"
    body = f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{value}}}}}'
    await client.post("/api/mcp", content=body, headers={"content-type": "application/json"})


async def _masked_lines(client: httpx.AsyncClient, _world: World) -> None:
    await client.get(f"/@://{':' * 7_900}")


@cache
def _png() -> bytes:
    """Return an image of 59 million pixels in a few kilobytes."""
    file = io.BytesIO()
    Image.new("L", (7_700, 7_700)).save(file, "PNG")
    return file.getvalue()


async def _large_images(client: httpx.AsyncClient, world: World) -> None:
    made = await _tool(client, world.attacker_key, "create_upload_url", content_type="image/png")
    url = made["structuredContent"]["upload_url"]
    await asyncio.gather(*(client.put(httpx.URL(url).path, content=_png()) for _ in range(3)))


ATTACKS: dict[str, Attack] = {
    "edits that multiply a body": _edits,
    "white space in an article": _white_space,
    "versions of marks": _versions,
    "forms in forms": _nested_form,
    "runs that fail": _runs_that_fail,
    "slow crawls": _crawls,
    "exports": _exports,
    "slow heads": _slow_heads,
    "nested JSON": _nested_json,
    "colons in a path": _masked_lines,
    "a charset of Python": _charsets,
    "large images": _large_images,
}


async def _read(client: httpx.AsyncClient, world: World) -> None:
    await _tool(client, world.victim_key, "get_content", content_id=world.article)


async def _qr_code(client: httpx.AsyncClient, _world: World) -> None:
    response = await client.post("/tools/qr-code-generator/api/generate", json={"text": "the same"})
    assert response.status_code in (200, 429)


async def _probe(client: httpx.AsyncClient, _world: World) -> None:
    assert (await client.get("/healthz")).status_code == 200


VICTIMS: dict[str, Attack] = {"get_content": _read, "QR code": _qr_code, "healthz": _probe}


async def _percentiles(world: World, seconds: float) -> dict[str, float]:
    """Return the 99th percentile of each victim's requests, in milliseconds."""
    times: dict[str, list[float]] = {name: [] for name in VICTIMS}
    async with httpx.AsyncClient(base_url=world.server.url, headers=VICTIM, timeout=60) as client:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for name, ask in VICTIMS.items():
                begin = time.perf_counter()
                await ask(client, world)
                times[name].append(1000 * (time.perf_counter() - begin))
                await asyncio.sleep(PAUSE)
    return {name: sorted(found)[int(0.99 * (len(found) - 1))] for name, found in times.items()}


@asynccontextmanager
async def _attacked(world: World, attack: Attack) -> AsyncIterator[None]:
    """Have one attacker repeat `attack` in two concurrent loops while the block runs."""

    async def repeat() -> None:
        async with httpx.AsyncClient(base_url=world.server.url, headers=ATTACKER, timeout=60) as client:
            while True:
                with suppress(httpx.HTTPError):
                    await attack(client, world)

    tasks = [asyncio.create_task(repeat()) for _ in range(2)]
    try:
        await asyncio.sleep(0.5)
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _memory(world: World, name: str) -> int:
    """Return a memory figure of the server's own process, in bytes."""
    lines = Path(f"/proc/{world.server.process.pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


@pytest.mark.timeout(300)
async def test_others_are_served_during_an_attack(world: World) -> None:
    await _percentiles(world, 2)
    quiet = await _percentiles(world, SECONDS)
    figures: dict[str, dict[str, float]] = {"quiet": quiet}
    for name, attack in ATTACKS.items():
        async with _attacked(world, attack):
            figures[name] = await _percentiles(world, SECONDS)
        figures[name]["memory MB"] = _memory(world, "VmRSS") / 1e6
    print(json.dumps(figures, indent=1))
    slow = {
        (name, victim): value
        for name, found in figures.items()
        for victim, value in found.items()
        if victim in quiet and value > MAX_RATIO * max(MIN_MILLISECONDS, quiet[victim])
    }
    assert not slow, slow
    assert _memory(world, "VmHWM") < MAX_BYTES
    assert world.server.process.poll() is None
