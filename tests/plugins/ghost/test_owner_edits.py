"""What the owner of a real Ghost edits beside the body of a post that was published from here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from support.ghost import Ghost
from support.owner_edits import keeps_an_image_of_the_owner
from support.taking_over import TakeOver, taking_over

from .test_improving import TheirGhost
from .test_taking_over import Owner

pytestmark = pytest.mark.timeout(600)  # the first test on a machine installs Ghost

SLUG = "image-of-its-owner"


@pytest.fixture(scope="module")
def over(blog: Ghost, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeOver]:
    folder = tmp_path_factory.mktemp("owner_edits")
    with taking_over(folder, "ghost", TheirGhost(blog), {"admin_api_key": blog.admin_key}, blog.url) as ready:
        yield ready


def test_a_featured_image_of_the_owner_stays(over: TakeOver, blog: Ghost) -> None:
    owner = Owner(blog)

    def post() -> dict[str, Any]:
        return dict(owner.send("GET", f"/posts/slug/{SLUG}/")["posts"][0])

    def give(number: int) -> str:
        row, image = post(), f"{blog.url}/content/images/2026/11/owners-{number}.png"
        changed = {"feature_image": image, "updated_at": row["updated_at"]}
        owner.send("PUT", f"/posts/{row['id']}/", {"posts": [changed]})
        return image

    keeps_an_image_of_the_owner(over, SLUG, give, lambda: str(post()["feature_image"]))
