"""The image review in an article check."""

from __future__ import annotations

import io

from PIL import Image
from pressroom_content.contract import ArticleReview, content_services
from pressroom_images.library.files import InspectedImage
from pressroom_images.library.store import Library
from support.tool_client import ToolClient


def review(client: ToolClient, content_id: str) -> ArticleReview:
    """Return this plugin's review of an article."""
    contexts = client.host.host.compiled.plugins.contexts
    offered = contexts["content"].extensions.of("pressroom_article_reviewers")
    [reviewer] = [entry for plugin, entry in offered if plugin == "images"]
    articles = content_services(contexts["images"]).articles
    result: ArticleReview = client.host.run(reviewer.review(client.host.run(articles.get(client.user_id, content_id))))
    return result


def test_images_are_reviewed_with_data_from_the_library(ada: ToolClient) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), "#b9502a").save(buffer, "PNG")
    library = Library(ada.host.host.compiled.plugins.contexts["images"])
    file = InspectedImage("image/png", 40, 30, buffer.getvalue())
    image = ada.host.run(library.add_user_image(ada.user_id, file, name="tea.png", alt_text="A cup of tea"))
    body = f"![A cup of tea]({image.url})\n\n![](http://127.0.0.1:1/gone.png)\n\n![photo.jpg](http://127.0.0.1:1/b.png)"
    article = ada.data("create_content", title="Tea", body=body)["content_id"]

    result = review(ada, article)

    first, second, third = result.data["images"]
    assert (first["media_id"], first["width"], first["height"], first["reachable"]) == (image.id, 40, 30, True)
    assert (second["media_id"], second["reachable"], third["alt_text"]) == ("", False, "photo.jpg")
    by_image: dict[str, set[tuple[str, str]]] = {}
    for issue in result.data["issues"]:
        by_image.setdefault(issue["url"], set()).add((issue["severity"], issue["check_id"]))
        assert issue["fix"]
    assert by_image[""] == {("warning", "featured_image")}
    assert {("critical", "image_alt"), ("critical", "image_reachable")} <= by_image[second["url"]]
    assert {("warning", "image_alt"), ("warning", "image_https")} <= by_image[third["url"]]
    assert ("critical", "image_alt") not in by_image.get(image.url, set())
    assert [issue["severity"] for issue in result.data["issues"]][:2] == ["critical", "critical"]
    assert len(result.lines) == len(result.data["issues"])
    assert any(line.startswith("critical, image_alt (http://127.0.0.1:1/gone.png): ") for line in result.lines)
