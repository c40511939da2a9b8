"""The owner of a real website changes the featured image of a post that the server published."""

from __future__ import annotations

from collections.abc import Callable

from support.taking_over import TakeOver


def keeps_an_image_of_the_owner(
    over: TakeOver, slug: str, give: Callable[[int], str], shown: Callable[[], str]
) -> None:
    """Publish an article, have the owner give its post an image, twice, and publish again after each.

    Args:
        over: the client, on a server that is connected to the website.
        slug: the slug of the post.
        give: sets one of the owner's images, distinct for each number, and returns its URL.
        shown: returns the URL of the post's featured image.
    """
    body = "One sentence here.\n\nAnother one there."
    content_id = over.client.data("create_content", title=f"The image of {slug}", slug=slug, body=body)["content_id"]
    first = over.publish(content_id)
    assert (first["status"], first["error"]) == ("published", "")
    for number, (old, new) in enumerate([("One sentence", "A first one"), ("Another one", "A second one")]):
        theirs = give(number)
        over.edit(content_id, old, new)
        assert "the featured image" in over.publish(content_id)["conflict"]
        assert shown() == theirs
        merge = over.client.data("merge_site_edits", publication_id=first["publication_id"])
        assert (list(merge["fields"]), merge["conflicts"]) == (["featured"], [])
        publication = over.publish(content_id)
        assert (publication["status"], publication["conflict"], publication["error"]) == ("published", None, "")
        assert shown() == theirs
        assert not [warning for warning in publication["warnings"] if "image" in warning]
