"""How often a server asks a real WordPress, as a proxy between them counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.holding_proxy import holding
from support.killed_server import Stage, staged
from support.wordpress import WordPress

from .test_killed import Owner

MAX_FIRST, MAX_UPDATE = 8, 5

pytestmark = pytest.mark.timeout(600)  # the first test on a machine downloads WordPress


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory, blog: WordPress) -> Iterator[Stage]:
    credential = {"username": "admin", "application_password": blog.passwords["admin"]}
    with (
        holding(blog.url, "/wp-json") as proxy,
        staged(tmp_path_factory.mktemp("server"), "wordpress", Owner(blog), proxy, credential) as made,
    ):
        yield made


def requests_of(stage: Stage, content_id: str) -> list[str]:
    """Publish an article; return the requests to the API that it took."""
    stage.proxy.requests.clear()
    stage.call("publish_content", content_id=content_id, website_id=stage.website_id)
    stage.stands(content_id, "published")
    return [one for one in stage.proxy.requests if not one.endswith("page")]


def test_publishing_and_updating_take_few_requests(counted: Stage, blog: WordPress) -> None:
    blog.send("POST", "/wp/v2/categories", {"name": "Long known"}).raise_for_status()
    made = counted.call(
        "create_content",
        title="Few requests",
        body=f"Some words.\n\n![A field](https://library.example/{counted.media_id}.png)\n",
        categories=["Long known", "Quite new"],
    )
    content_id = str(made["content_id"])

    first = requests_of(counted, content_id)
    counted.call(
        "update_content",
        content_id=content_id,
        expected_version=made["version"],
        edits=[{"find": "Some words", "replace": "Other words"}],
    )
    second = requests_of(counted, content_id)

    assert len(first) <= MAX_FIRST, first
    assert len(second) <= MAX_UPDATE, second
