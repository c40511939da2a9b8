"""Fields that the owner of a real Ghost edits in a post that was published from here."""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from support.ghost import OWNER, Ghost
from support.owner_edits import keeps_an_image_of_the_owner
from support.taking_over import TakeOver, taking_over

from .test_improving import TheirGhost
from .test_requests import wait_for_another_second
from .test_taking_over import Owner

pytestmark = pytest.mark.timeout(600)  # the first test on a machine installs Ghost

SLUG = "image-of-its-owner"


@pytest.fixture(scope="module")
def over(blog: Ghost, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeOver]:
    folder = tmp_path_factory.mktemp("owner_edits")
    with taking_over(folder, "ghost", TheirGhost(blog), {"admin_api_key": blog.admin_key}, blog.url) as ready:
        yield ready


def test_a_featured_image_set_by_the_owner_is_kept(over: TakeOver, blog: Ghost) -> None:
    owner = Owner(blog)

    def post() -> dict[str, Any]:
        return dict(owner.send("GET", f"/posts/slug/{SLUG}/")["posts"][0])

    def give(number: int) -> str:
        wait_for_another_second(blog)
        row, image = post(), f"{blog.url}/content/images/2026/11/owners-{number}.png"
        changed = {"feature_image": image, "updated_at": row["updated_at"]}
        owner.send("PUT", f"/posts/{row['id']}/", {"posts": [changed]})
        return image

    keeps_an_image_of_the_owner(over, SLUG, give, lambda: str(post()["feature_image"]))


def second_author(blog: Ghost) -> tuple[str, str]:
    """Insert a second author, whom Ghost would otherwise invite by e-mail, and return the IDs of both authors."""
    other = secrets.token_hex(12)
    with contextlib.closing(sqlite3.connect(blog.folder / "data" / "ghost.db", timeout=30)) as database, database:
        database.row_factory = sqlite3.Row
        first = dict(database.execute("select * from users where email = ?", (OWNER["email"],)).fetchone())
        row = first | {"id": other, "name": "Second", "slug": "second", "email": "second@example.com"}
        placeholders = ", ".join("?" * len(row))
        database.execute(f"insert into users ({', '.join(row)}) values ({placeholders})", tuple(row.values()))
    return first["id"], other


def test_an_author_added_by_the_owner_is_kept(over: TakeOver, blog: Ghost) -> None:
    owner, authors = Owner(blog), second_author(blog)
    name = owner.send("GET", f"/users/{authors[0]}/")["users"][0]["name"]
    article = over.client.data(
        "create_content", title="Two authors", slug="two-authors", body="One sentence.", author=name
    )
    assert over.publish(article["content_id"])["error"] == ""
    row = owner.send("GET", "/posts/slug/two-authors/")["posts"][0]
    changes = {"authors": [{"id": author} for author in authors], "updated_at": row["updated_at"]}
    owner.send("PUT", f"/posts/{row['id']}/", {"posts": [changes]})
    over.edit(article["content_id"], "One sentence", "Another sentence")
    publication = over.publish(article["content_id"])
    assert (publication["status"], publication["conflict"], publication["error"]) == ("published", None, "")
    assert [author["id"] for author in owner.read(row["id"])["authors"]] == list(authors)
