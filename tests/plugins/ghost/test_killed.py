"""A server killed while it publishes to a real Ghost: exactly one post results, complete and live."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import httpx
import pytest
from pressroom_ghost.requests import token
from support.ghost import Ghost
from support.holding_proxy import holding
from support.killed_server import Point, Shown, Stage, killed_at_each_step, staged
from support.killed_updates import LONG, OTHER, updates_killed_at_each_step
from support.sizes import rounds
from support.taking_over import SENTENCE

from .test_improving import TheirGhost
from .test_lexical import block, words
from .test_taking_over import BLOCKS, various

ROUNDS = rounds("PRESSROOM_TEST_KILLS", 1, soak=50)
UPDATES = rounds("PRESSROOM_TEST_KILLS", 1, soak=50)

API = "/ghost/api/admin"

POINTS: list[Point] = [
    ("POST /images/upload/", "after"),
    ("POST /posts/", "before"),
    ("POST /posts/", "after"),
    ("PUT /posts/*/", "after"),
]

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs Ghost


@dataclass(frozen=True, slots=True)
class Owner:
    """The site's owner, who bypasses the proxy."""

    blog: Ghost

    def found(self, word: str) -> Sequence[Shown]:
        query = {"limit": "100", "formats": "html", "include": "tags", "filter": f"title:~'{word}'"}
        headers = {"Authorization": f"Ghost {token(self.blog.admin_key)}", "Accept-Version": "v5.0"}
        response = httpx.get(f"{self.blog.url}{API}/posts/", params=query, headers=headers, timeout=30)
        return [
            Shown(
                state="live" if row["status"] == "published" else row["status"],
                title=row["title"],
                html=row["html"],
                tags=tuple(tag["name"] for tag in row["tags"]),
                featured=bool(row["feature_image"]),
            )
            for row in response.json()["posts"]
        ]

    def files(self) -> Sequence[str]:
        # Ghost keeps the original file under another name next to the one that it shows.
        images = (self.blog.folder / "images").glob("[0-9]*/[0-9]*/m*.png")
        return sorted(file.name for file in images if not file.stem.endswith("_o"))


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, blog: Ghost) -> Iterator[Stage]:
    with (
        holding(blog.url, API) as proxy,
        staged(
            tmp_path_factory.mktemp("server"), "ghost", Owner(blog), proxy, {"admin_api_key": blog.admin_key}
        ) as staging,
    ):
        yield staging


def test_a_server_killed_repeatedly_leaves_one_post(stage: Stage) -> None:
    content_id, word = stage.write()
    stage.publish_and_be_killed(content_id, *(POINTS if stage.articles == 1 else POINTS[1:]))
    stage.check(content_id, word)
    stage.check_all()


@pytest.mark.timeout(3600)
def test_a_server_killed_at_each_step_leaves_one_post(
    stage: Stage, record_testsuite_property: Callable[[str, object], None]
) -> None:
    record_testsuite_property("kills on Ghost", killed_at_each_step(stage, ROUNDS))


class OldPosts(TheirGhost):
    """A Ghost whose posts have two paragraphs that are edited, among blocks that only Ghost understands."""

    def write(self, number: int) -> str:
        first, long, last = (block("paragraph", words(text)) for text in (SENTENCE, LONG, OTHER))
        middle = [BLOCKS[(number * 5 + at * 11) % len(BLOCKS)] for at in range(3)]
        fields = various(number) | {"visibility": "public", "title": f"Old post {number}"}
        return self.make("posts", **fields | {"blocks": [first, *middle, *[long] * 30, last]})

    def blocks(self, raw: str) -> Sequence[str]:
        return [json.dumps(child) for child in json.loads(raw)["root"]["children"]]

    def count(self) -> int:
        response = self.owner.send("GET", "/posts/?limit=1&fields=id&filter=title:~'Old post'")
        return int(response["meta"]["pagination"]["total"])


@pytest.mark.timeout(3600)
def test_an_adopted_post_is_updated_once_whenever_the_server_is_killed(
    stage: Stage, blog: Ghost, record_testsuite_property: Callable[[str, object], None]
) -> None:
    killed = updates_killed_at_each_step(stage, OldPosts(blog), UPDATES)
    record_testsuite_property("kills while Ghost posts were updated", killed)
