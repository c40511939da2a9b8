"""Kill a real server while it publishes on a real platform, and check the final state."""

from __future__ import annotations

import io
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, Protocol

import httpx
from PIL import Image
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.websites.store import Websites

from support.holding_proxy import HoldingProxy, When
from support.server import Server, serving
from support.tool_client import ToolClient, client_of

Point = tuple[str, When]
"""A request, and the stage of its handling at which the server is killed."""

SETTLE: Final = 0.5
"""Seconds until the server may resend a request whose effect it cannot find; the proxy knows that none is pending."""

NEVER_SETTLED: Final = 600.0

_SECONDS: Final = 120.0
_WRITES: Final = ("POST ", "PUT ", "DELETE ")

_BUSY: Final = "is being processed right now; repeat this in a few seconds"

_CONFIG: Final = """
builtin_plugins = false
[plugins.content.config]
lease_seconds = 1
settle_seconds = {settle}
[plugins.images]
[plugins.{platform}]
[fetch]
private_networks = ["127.0.0.0/8"]
[jobs]
poll_interval = 0.1
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A post as the platform's own API returns it to its owner."""

    state: str
    title: str
    html: str
    tags: tuple[str, ...]
    featured: bool


class Platform(Protocol):
    """A running site."""

    def found(self, word: str) -> Sequence[Shown]:
        """Return all posts, in any state, whose title contains a word."""

    def files(self) -> Sequence[str]:
        """Return the URLs of all images, once per upload."""


@dataclass(slots=True)
class Stage:
    """A server that publishes through a proxy. `kills` counts the kills at each point."""

    platform: Platform
    name: str
    proxy: HoldingProxy
    folder: Path
    key: str
    website_id: str
    media_id: str
    kills: Counter[Point] = field(default_factory=Counter)
    articles: int = 0
    word: str = field(default_factory=lambda: f"Kestrel{secrets.token_hex(4)}")
    files_before: int = 0
    _client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=60))
    _running: ExitStack = field(default_factory=ExitStack)
    _server: Server | None = None
    _port: int = 0

    def start(self, settle: float = SETTLE) -> None:
        """Start the server with the data of the previous one."""
        config = _CONFIG.format(settle=settle, platform=self.name)
        self._server = self._running.enter_context(serving(self.folder, config, port=self._port))
        self._port = int(self._server.url.rpartition(":")[2])

    def kill(self) -> None:
        """Send SIGKILL, and return once the process has ended."""
        assert self._server is not None
        self._server.process.kill()
        self._server.process.wait(20)
        self._running.close()

    def stop(self) -> None:
        """Shut the server down gracefully."""
        self._running.close()
        self._client.close()

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed, and return its structured content. Calls again while it says to."""
        deadline = time.monotonic() + _SECONDS
        result = self._ask(tool, arguments)
        while result["content"][0]["text"].endswith(_BUSY) and time.monotonic() < deadline:
            result = self._ask(tool, arguments)
        assert not result.get("isError"), result
        content: dict[str, Any] = result["structuredContent"]
        return content

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool that must fail, and return its error message."""
        result = self._ask(tool, arguments)
        assert result.get("isError"), result
        return str(result["content"][0]["text"])

    def write(self) -> tuple[str, str]:
        """Write an article with tags and an image; return its id and a word unique to it."""
        self.articles += 1
        word = f"{self.word}x{self.articles:03}"
        article = self.call(
            "create_content",
            title=f"The {word} in winter",
            slug=word.lower(),
            body=f"Some words about **{word}**.\n\n![A field](https://library.example/{self.media_id}.png)\n\n- one\n",
            tags=[f"Tag {word}"],
            categories=[f"Group {word}"],
            excerpt="In a few words.",
        )
        self.call(
            "import_image",
            image_ref=self.media_id,
            content_id=article["content_id"],
            role="featured",
            alt_text="A field",
        )
        return str(article["content_id"]), word

    def publish(self, content_id: str) -> None:
        """Start publishing in the background, without waiting for the response."""

        def ask() -> None:
            with suppress(httpx.TransportError):
                self._ask("publish_content", {"content_id": content_id, "website_id": self.website_id})

        threading.Thread(target=ask, daemon=True).start()

    def publish_and_be_killed(self, content_id: str, *points: Point, settle: float = SETTLE) -> None:
        """Publish an article; kill and restart the server at each of the requests in turn.

        The first article uploads the image that all articles share: omit the point of its upload for others.
        """
        hold = self.proxy.hold(*points[0])
        self.publish(content_id)
        for point, next_point in zip_longest(points, points[1:]):
            assert hold.met.wait(_SECONDS), f"nobody asked {point[0]}"
            self.kill()
            self.kills[point] += 1
            if hold.when != "late":
                self.proxy.release()
            if next_point is not None:
                hold = self.proxy.hold(*next_point)
            self.start(settle)

    def stands(self, content_id: str, *wanted: str) -> dict[str, Any]:
        """Return the publication of an article once it has one of the wanted statuses."""
        deadline = time.monotonic() + _SECONDS
        while True:
            rows = self.call("list_publications", content_id=content_id)["publications"]
            if rows and rows[0]["status"] in wanted:
                publication: dict[str, Any] = rows[0]
                return publication
            assert time.monotonic() < deadline, rows
            time.sleep(0.25)

    def let_go_late(self, content_id: str) -> None:
        """Forward the held request of a killed server to the site, while the new server is checking its outcome."""
        [hold] = [hold for hold in self.proxy.held() if hold.met.is_set()]
        self.stands(content_id, "unknown", "published")
        self.proxy.release()
        assert hold.over.wait(60)
        publication = self.stands(content_id, "unknown", "published")
        if publication["status"] == "unknown":
            self.call("publish_content", content_id=content_id, website_id=publication["website_id"])

    def check(self, content_id: str, word: str) -> None:
        """Check that the article is published, and that exactly one complete post of it exists."""
        publication = self.stands(content_id, "published", "failed")
        assert publication["status"] == "published", publication
        assert publication["verified"]["http_status"] == 200, publication
        assert publication["verified"]["title_found"] is True, publication
        [post] = self.platform.found(word)
        assert (post.state, post.title) == ("live", f"The {word} in winter")
        assert f"<strong>{word}</strong>" in post.html
        assert "library.example" not in post.html
        assert "<img" in post.html
        assert f"Tag {word}" in post.tags
        assert post.featured

    def check_all(self) -> None:
        """Check that the site has exactly one post for every article, and their image once."""
        posts = self.platform.found(self.word)
        assert len(posts) == self.articles
        assert {post.state for post in posts} == {"live"}
        # All articles share one image, which must be uploaded only once.
        assert len(self.platform.files()) == self.files_before + min(1, self.articles), self.platform.files()

    def points(self) -> list[Point]:
        """Publish an article undisturbed; return its requests, each with the stages at which it can be interrupted."""
        # The first article also uploads the shared image.
        for _ in range(2 if not self.articles else 1):
            self.proxy.requests.clear()
            content_id, word = self.write()
            self.publish(content_id)
            self.check(content_id, word)
        requests = dict.fromkeys(self.proxy.requests)
        timings: Mapping[bool, tuple[When, ...]] = {True: ("before", "after", "late"), False: ("before",)}
        return [(request, when) for request in requests for when in timings[request.startswith(_WRITES)]]

    def _ask(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert self._server is not None
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        headers = {
            "authorization": f"Bearer {self.key}",
            "mcp-protocol-version": "2025-06-18",
            "x-mcp-toolsets": "all",
        }
        response = self._client.post(f"{self._server.url}/api/mcp", json=body, headers=headers)
        assert response.status_code == 200, response.text
        result: dict[str, Any] = response.json()["result"]
        return result


def killed_at_each_step(stage: Stage, rounds: int) -> dict[str, int]:
    """Publish `rounds` articles, and kill the server once during each, at every point in turn.

    Return the number of kills at each point.
    """
    before = Counter(stage.kills)
    points = stage.points()
    for number in range(rounds):
        point = points[number % len(points)]
        content_id, word = stage.write()
        late = point[1] == "late"
        stage.publish_and_be_killed(content_id, point, settle=NEVER_SETTLED if late else SETTLE)
        if late:
            stage.let_go_late(content_id)
        stage.check(content_id, word)
    stage.check_all()
    kills = stage.kills - before
    assert kills.total() == rounds
    return {f"{request} {when}": count for (request, when), count in kills.items()}


@contextmanager
def staged(
    folder: Path, name: str, platform: Platform, proxy: HoldingProxy, credential: Mapping[str, str]
) -> Iterator[Stage]:
    """Yield a running server with the website behind a proxy connected."""
    config = {
        "builtin_plugins": False,
        "plugins": {"content": {}, "images": {}, name: {}},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
    }
    with RunningHost(settings_for_test(config, folder / "data")) as host:
        person = client_of(host, "ada@example.com")
        plugin = host.host.compiled.plugins.contexts["content"]
        website = host.run(
            Websites(plugin).add(
                person.user_id, name, name="My blog", url=proxy.url, credential=dict(credential), finding=None
            )
        )
        media_id = uploaded_image(person)
    stage = Stage(platform, name, proxy, folder, person.key, website.id, media_id)
    stage.files_before = len(platform.files())
    stage.start()
    try:
        yield stage
    finally:
        stage.stop()


def uploaded_image(person: ToolClient) -> str:
    """Upload an image to the library of an account, and return its id."""
    link = person.data("create_upload_url", filename="field.png", content_type="image/png")
    buffer = io.BytesIO()
    Image.new("RGB", (64, 48), "#4a7c3a").save(buffer, "PNG")
    response = httpx.put(
        link["upload_url"], content=buffer.getvalue(), headers={"Content-Type": "image/png"}, timeout=30
    )
    assert response.is_success, response.text
    return str(link["media_id"])
