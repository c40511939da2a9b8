"""A website on the stand-in platform with an existing post."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pressroom.sdk import PluginContext
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.adopting import AdoptedPost, adopt
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import PublishRequest
from pressroom_content.records import Publication
from support.publishing_world import ADA, connect
from support.standin_platform import StandInPlatform
from support.standin_plugin import BLOCKS

RAW = '<p style="color:red">One</p>\n\n[gallery 1, 2]\n\n<p>Two words.</p>\n\n[form 7]\n\n<p>Three'


@dataclass(frozen=True, slots=True)
class Blog:
    """A website on the stand-in platform with an existing post."""

    plugin: PluginContext
    platform: StandInPlatform
    website: str

    @property
    def post(self) -> dict[str, Any]:
        return self.platform.posts["old"]

    def puts(self) -> int:
        return self.platform.count("PUT /api/posts/old")

    async def adopted(self, slug: str = "old-post") -> AdoptedPost:
        adopted = await adopt(self.plugin, ADA, self.website, f"{self.platform.url}/{slug}")
        assert adopted is not None
        return adopted

    async def change(self, content_id: str, **changes: Any) -> None:
        articles = Articles(self.plugin)
        article = await articles.get(ADA, content_id)
        await articles.write(article, Draft.of(article).with_changes(changes))

    async def replaced(self, content_id: str, old: str, new: str) -> None:
        body = (await Articles(self.plugin).get(ADA, content_id)).body
        assert old in body
        await self.change(content_id, body=body.replace(old, new))

    async def publish(self, content_id: str, **options: Any) -> Publication:
        store = Publications(self.plugin)
        started = await store.begin(ADA, content_id, self.website, PublishRequest(**options))
        return await store.wait(started.publication, 30)


def written(platform: StandInPlatform, identifier: str = "old", **fields: Any) -> None:
    platform.posts[identifier] = {
        "id": identifier, "marker": "", "title": "An old post", "slug": "old-post", "html": RAW, "tags": ["news"],
        "categories": ["Engineering"], "excerpt": "", "meta_title": "", "meta_description": "Old.", "canonical_url": "",
        "featured": "https://library.example/there.png", "term_ids": {}, "state": "live", "revision": 3, "at": None,
        "comments": 4, **fields,
    }  # fmt: skip


async def blog_on(plugin: PluginContext, platform: StandInPlatform) -> Blog:
    written(platform)
    return Blog(plugin, platform, await connect(plugin, platform.url, platform.token, platform=BLOCKS))
