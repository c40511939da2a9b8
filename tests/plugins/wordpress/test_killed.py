"""A server killed while it publishes to a real WordPress: exactly one post results, complete and live."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pytest
from support.holding_proxy import holding
from support.killed_server import Point, Shown, Stage, killed_at_each_step, staged
from support.killed_updates import LONG, OTHER, updates_killed_at_each_step
from support.sizes import rounds
from support.taking_over import SENTENCE
from support.wordpress import WordPress

from .test_improving import TheirWordPress
from .test_taken_over import BLOCKS

ROUNDS = rounds("PRESSROOM_TEST_KILLS", 1, soak=50)
UPDATES = rounds("PRESSROOM_TEST_KILLS", 1, soak=50)

POINTS: list[Point] = [
    ("POST /wp/v2/media", "after"),
    ("POST /wp/v2/posts", "before"),
    ("POST /wp/v2/posts", "after"),
    ("POST /wp/v2/posts/*", "after"),
]

pytestmark = pytest.mark.timeout(600)  # the first test on a machine downloads WordPress


@dataclass(frozen=True, slots=True)
class Owner:
    """The site's owner, who bypasses the proxy."""

    blog: WordPress

    def found(self, word: str) -> Sequence[Shown]:
        statuses = "publish,future,draft,pending,private,trash"
        rows = self.blog.get("/wp/v2/posts", search=word, status=statuses, context="edit", per_page=100).json()
        return [
            Shown(
                state="live" if row["status"] == "publish" else row["status"],
                title=row["title"]["raw"],
                html=row["content"]["raw"],
                tags=self._names("tags", row["tags"]) + self._names("categories", row["categories"]),
                featured=bool(row["featured_media"]),
            )
            for row in rows
            if word in row["title"]["raw"]
        ]

    def files(self) -> Sequence[str]:
        return [row["source_url"] for row in self.blog.get("/wp/v2/media", per_page=100).json()]

    def _names(self, taxonomy: str, ids: Sequence[int]) -> tuple[str, ...]:
        if not ids:
            return ()
        include = ",".join(map(str, ids))
        return tuple(row["name"] for row in self.blog.get(f"/wp/v2/{taxonomy}", include=include).json())


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, blog: WordPress) -> Iterator[Stage]:
    credential = {"username": "admin", "application_password": blog.passwords["admin"]}
    with (
        holding(blog.url, "/wp-json") as proxy,
        staged(tmp_path_factory.mktemp("server"), "wordpress", Owner(blog), proxy, credential) as staging,
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
    record_testsuite_property("kills on WordPress", killed_at_each_step(stage, ROUNDS))


class OldPosts(TheirWordPress):
    """A WordPress whose posts have two paragraphs that are edited, among blocks that only WordPress understands."""

    def write(self, number: int) -> str:
        first, long, last = (
            f"<!-- wp:paragraph -->\n<p>{text}</p>\n<!-- /wp:paragraph -->" for text in (SENTENCE, LONG, OTHER)
        )
        middle = [BLOCKS[(number * 3 + at) % len(BLOCKS)] for at in range(3)]
        closed = [block for block in middle if "missing" not in block and not block.startswith("<!-- /")]
        content = "\n\n".join([first, *closed, *[long] * 30, last])
        return self.make("posts", title=f"Old post {number}", slug=f"old-post-{number}", content=content)

    def blocks(self, raw: str) -> Sequence[str]:
        return raw.split("\n\n")

    def count(self) -> int:
        statuses = "publish,future,draft,pending,private,trash"
        response = self.blog.get("/wp/v2/posts", search="Old post", status=statuses, context="edit", per_page=1)
        return int(response.headers["x-wp-total"])


@pytest.mark.timeout(3600)
def test_an_adopted_post_is_updated_once_whenever_the_server_is_killed(
    stage: Stage, blog: WordPress, record_testsuite_property: Callable[[str, object], None]
) -> None:
    killed = updates_killed_at_each_step(stage, OldPosts(blog), UPDATES)
    record_testsuite_property("kills while WordPress posts were updated", killed)
