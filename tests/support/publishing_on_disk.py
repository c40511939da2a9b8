"""Publish while the disk of the server's database fills up; run by a test on a separate disk."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from pressroom.sdk import BackendError
from pressroom.testing.running import settings_for_test
from pressroom_content.publishing.publications import Publications

from support.installing import on_path
from support.publishing_world import ADA, configuration, connect, world, write
from support.standin_platform import standing_in
from support.standin_plugin import distribution


def fill(file: Path) -> None:
    """Write until the disk is full."""
    with file.open("wb", buffering=0) as filler:
        for size in (65_536, 4_096, 512):
            try:
                while True:
                    filler.write(b"x" * size)
            except OSError:
                continue


async def main(folder: Path, elsewhere: Path) -> None:
    """Fill the disk before a publication, and again right after the second post was created."""
    filler = folder / "filler"
    config = configuration({"path": folder / "data"})
    with standing_in() as platform, on_path(distribution(elsewhere)):
        async with world(settings_for_test(config, folder / "data")) as plugin:
            website, publications = await connect(plugin, platform.url, platform.token), Publications(plugin)
            first, second = await write(plugin), await write(plugin, title="Second", slug="second")
            fill(filler)
            try:
                await publications.publish(ADA, first, website)
            except BackendError:
                pass
            else:
                raise AssertionError("the disk is not full")
            filler.unlink()
            assert not platform.posts
            finished = await publications.wait(await publications.publish(ADA, first, website), 20)
            assert finished.status == "published", finished

            fault = platform.fault("POST /api/posts", when="before", then=lambda: fill(filler))
            publication = await publications.publish(ADA, second, website)
            assert await asyncio.to_thread(fault.met.wait, 20)
            await asyncio.to_thread(platform.wait_for_posts, 2)
            await asyncio.sleep(1)  # it tries to record that the post exists
            filler.unlink()
            finished = await publications.wait(publication, 60)
            assert finished.status == "published", finished
            slugs = sorted(post["slug"] for post in platform.posts.values())
            assert slugs == ["hello-world", "second"], slugs


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
