"""Number of requests to a real WordPress, counted by a proxy."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

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
        staged(tmp_path_factory.mktemp("server"), "wordpress", Owner(blog), proxy, credential) as staging,
    ):
        yield staging


def made_on(blog: WordPress, path: str, **values: str) -> int:
    """Create a term or a user on the blog, and return its ID."""
    response = blog.send("POST", f"/wp/v2/{path}", values)
    response.raise_for_status()
    return int(response.json()["id"])


def writer_on(blog: WordPress, name: str) -> int:
    """Create a user on the blog who may write but has not written anything, and return the user's ID."""
    login = f"writer{secrets.token_hex(4)}"
    values = {"username": login, "name": name, "email": f"{login}@example.org", "password": secrets.token_hex(8)}
    return made_on(blog, "users", roles="author", **values)


def written(stage: Stage, **fields: Any) -> str:
    """Create an article whose featured image is also in its body; return its ID."""
    image = f"![A field](https://library.example/{stage.media_id}.png)"
    article = stage.call("create_content", body=f"Some words.\n\n{image}\n", **fields)
    stage.call(
        "import_image", image_ref=stage.media_id, content_id=article["content_id"], role="featured", alt_text="A field"
    )
    return str(article["content_id"])


def edited(stage: Stage, content_id: str, old: str, new: str) -> None:
    """Replace words in the body of an article."""
    version = stage.call("get_content", content_id=content_id)["content"]["version"]
    edits = [{"find": old, "replace": new}]
    stage.call("update_content", content_id=content_id, expected_version=version, edits=edits)


def requests_of(stage: Stage, content_id: str) -> list[str]:
    """Publish an article, and return the API requests that this took."""
    stage.proxy.requests.clear()
    stage.call("publish_content", content_id=content_id, website_id=stage.website_id)
    publication = stage.stands(content_id, "published", "failed")
    assert (publication["status"], publication["error"], publication["warnings"]) == ("published", "", [])
    return [request for request in stage.proxy.requests if not request.endswith("page")]


def test_publishing_and_updating_take_few_requests(counted: Stage, blog: WordPress) -> None:
    for path, names in (("tags", ("Long known", "Known too")), ("categories", ("A known group", "Another"))):
        for name in names:
            made_on(blog, path, name=name)
    writer = writer_on(blog, "Ada Known")
    content_id = written(
        counted,
        title="Few requests",
        author="Ada Known",
        tags=["Long known", "Known too"],
        categories=["A known group", "Another"],
    )

    first = requests_of(counted, content_id)
    edited(counted, content_id, "Some words", "Other words")
    second = requests_of(counted, content_id)

    assert len(first) <= MAX_FIRST, first
    assert len(second) <= MAX_UPDATE, second
    [post] = blog.get("/wp/v2/posts", search="Few requests", _embed="wp:term").json()
    assert (post["author"], bool(post["featured_media"])) == (writer, True)
    assert "Other words" in post["content"]["rendered"]
    term_names = {term["name"] for group in post["_embedded"]["wp:term"] for term in group}
    assert term_names == {"Long known", "Known too", "A known group", "Another"}


def test_a_new_tag_costs_a_request_and_the_others_none(counted: Stage, blog: WordPress) -> None:
    content_id = written(counted, title="More tags", tags=["A first tag"], categories=["A first group"])
    requests_of(counted, content_id)
    version = counted.call("get_content", content_id=content_id)["content"]["version"]
    fields = {"tags": ["A first tag", "A second tag"]}
    counted.call("update_content", content_id=content_id, expected_version=version, fields=fields)

    requests = requests_of(counted, content_id)

    assert requests.count("POST /wp/v2/tags") == 1
    assert len([request for request in requests if "/tags" not in request]) <= MAX_UPDATE - 1, requests
    [post] = blog.get("/wp/v2/posts", search="More tags", _embed="wp:term").json()
    names = {term["name"] for group in post["_embedded"]["wp:term"] for term in group}
    assert names == {"A first tag", "A second tag", "A first group"}


def test_a_tag_deleted_on_the_site_meanwhile_is_recreated(counted: Stage, blog: WordPress) -> None:
    content_id = written(counted, title="Tidied up", tags=["Tidied away", "Left alone"], categories=["Group away"])
    requests_of(counted, content_id)
    for path, name in (("tags", "Tidied away"), ("categories", "Group away")):
        [term] = blog.get(f"/wp/v2/{path}", search=name).json()
        blog.send("DELETE", f"/wp/v2/{path}/{term['id']}?force=true").raise_for_status()
    edited(counted, content_id, "Some words", "Other words")
    publication = counted.call("publish_content", content_id=content_id, website_id=counted.website_id)

    assert (publication["status"], publication["warnings"]) == ("published", [])
    [post] = blog.get("/wp/v2/posts", search="Tidied up", _embed="wp:term").json()
    assert "Other words" in post["content"]["rendered"]
    names = {term["name"] for group in post["_embedded"]["wp:term"] for term in group}
    assert names == {"Tidied away", "Left alone", "Group away"}


@pytest.mark.parametrize("made_anew", [False, True])
def test_an_author_who_left_the_site_meanwhile_is_named_with_the_remaining_ones(
    counted: Stage, blog: WordPress, made_anew: bool
) -> None:
    leaving, staying = writer_on(blog, "Ben Leaving"), writer_on(blog, "Cleo Staying")
    content_id = written(counted, title="Somebody left", author="Ben Leaving")
    requests_of(counted, content_id)
    if made_anew:
        [post] = blog.get("/wp/v2/posts", author=leaving).json()
        blog.send("DELETE", f"/wp/v2/posts/{post['id']}?force=true").raise_for_status()
    blog.send("DELETE", f"/wp/v2/users/{leaving}?force=true&reassign={staying}").raise_for_status()
    edited(counted, content_id, "Some words", "Other words")
    message = counted.refused("publish_content", content_id=content_id, website_id=counted.website_id)

    assert "the site has no author 'Ben Leaving'; it has" in message
    assert "Cleo Staying" in message
