"""Fields that the owner of a real WordPress edits in a post that was published from here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from support.owner_edits import keeps_an_image_of_the_owner
from support.polling import wait_until
from support.standin_plugin import PNG
from support.taking_over import TakeOver, taking_over
from support.wordpress import WordPress

from .test_improving import TheirWordPress

pytestmark = pytest.mark.timeout(600)  # the first test on a machine downloads WordPress

SLUG = "image-of-its-owner"


@pytest.fixture(scope="module")
def over(blog: WordPress, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeOver]:
    credential = {"username": "admin", "application_password": blog.passwords["admin"]}
    folder = tmp_path_factory.mktemp("owner_edits")
    with taking_over(folder, "wordpress", TheirWordPress(blog), credential, blog.url) as ready:
        yield ready


def test_a_featured_image_set_by_the_owner_is_kept(over: TakeOver, blog: WordPress) -> None:
    def post() -> dict[str, object]:
        (row,) = blog.get("/wp/v2/posts", slug=SLUG, context="edit").raise_for_status().json()
        return dict(row)

    def give(number: int) -> str:
        written = datetime.fromisoformat(str(post()["modified_gmt"])).replace(tzinfo=UTC)
        # WordPress timestamps are in whole seconds.
        wait_until(lambda: datetime.now(UTC) >= written + timedelta(seconds=1))
        name = f'attachment; filename="owners-{number}.png"'
        headers = {"Content-Disposition": name, "Content-Type": "image/png"}
        auth = ("admin", blog.passwords["admin"])
        sent = httpx.post(f"{blog.url}/wp-json/wp/v2/media", content=PNG, headers=headers, auth=auth, timeout=30)
        media = sent.raise_for_status().json()
        blog.send("POST", f"/wp/v2/posts/{post()['id']}", {"featured_media": media["id"]}).raise_for_status()
        return str(media["source_url"])

    def shown() -> str:
        return str(blog.get(f"/wp/v2/media/{post()['featured_media']}").raise_for_status().json()["source_url"])

    keeps_an_image_of_the_owner(over, SLUG, give, shown)
