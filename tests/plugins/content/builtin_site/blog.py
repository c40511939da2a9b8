"""A built-in site for tests, and an image to publish on it."""

from __future__ import annotations

import io
from typing import Any

import httpx
from PIL import Image
from pressroom.testing import RunningHost
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.contract import MediaFile, Post
from pressroom_content.websites.store import Websites
from selectolax.lexbor import LexborHTMLParser

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin


class Blog:
    """A built-in site of a person, for publishing and reading."""

    def __init__(self, host: RunningHost, client: Client, **settings: Any) -> None:
        self._host, self._client = host, client
        website = client.data("connect_website", platform="builtin", name="Ada writes")
        self.id, self.url = website["website_id"], website["connect_url"]
        self.set(**settings)

    def set(self, **settings: Any) -> None:
        if settings:
            self._client.data("update_website_settings", website_id=self.id, settings=settings)

    def publish(
        self, title: str, body: str = "Some words.", *, options: dict[str, Any] | None = None, **fields: Any
    ) -> str:
        draft = Draft(title=title, body=body, **fields)
        article = self._host.run(Articles(self._client.plugin).create(self._client.user_id, draft)).article.id
        publication = self._client.data(
            "publish_content", content_id=article, website_id=self.id, **({"options": options} if options else {})
        )
        assert publication["status"] == "published", publication
        return str(publication["url"])

    def post_with_images(self, title: str, content: bytes) -> str:
        """Publish a post whose cover image is also in its body, through the connector, and return its URL."""

        async def put() -> str:
            _, site = await Websites(self._client.plugin).open(self._client.user_id, self.id)
            media = await site.upload(_wheel_file(content), "m_1")
            html = f'<p>Text.</p><p><img src="{media.url}" alt="A wheel"></p>'
            post = Post(
                "b_1", title, "wheels", html, "", featured=media, featured_alt="A wheel", featured_caption="Wood."
            )
            remote = await site.create(post)
            await site.set_state(remote.id, "live")
            self.post_id = remote.id
            return remote.url

        return self._host.run(put())

    def upload(self, content: bytes) -> str:
        """Upload an image to the site, and return its URL."""

        async def put() -> str:
            _, site = await Websites(self._client.plugin).open(self._client.user_id, self.id)
            return (await site.upload(_wheel_file(content), f"m_{len(content)}")).url

        return self._host.run(put())

    def delete_post(self) -> None:
        async def gone() -> None:
            _, site = await Websites(self._client.plugin).open(self._client.user_id, self.id)
            await site.set_state(self.post_id, "gone")

        self._host.run(gone())

    def get(self, path: str = "") -> httpx.Response:
        return httpx.get(f"{self.url}{path}", timeout=30)

    def tree(self, path: str = "") -> LexborHTMLParser:
        response = self.get(path)
        assert response.status_code == 200, (path, response.status_code)
        return LexborHTMLParser(response.text)

    def titles(self, path: str = "") -> list[str]:
        return [node.text() for node in self.tree(path).css(".posts .post-title")]


def _wheel_file(content: bytes) -> MediaFile:
    return MediaFile("m_1", "wheel.png", "image/png", "", "A wheel", "download", 1200, 675, content)


def plain_png(width: int, height: int) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (width, height), "#2b5fd9").save(written, "PNG")
    return written.getvalue()


def wheel() -> bytes:
    image = Image.radial_gradient("L").resize((1200, 675)).convert("RGB")
    image.paste(Image.effect_noise((400, 400), 80).convert("RGB"), (100, 100))
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()
