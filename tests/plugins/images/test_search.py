"""Image search, and import of results into the library."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from pressroom_images.config import ImagesConfig
from support.tool_client import ToolClient

from .providers import PEXELS_KEY, PIXABAY_KEY, UNSPLASH_KEY, Providers, image_bytes


def refs(client: ToolClient, query: str = "coffee", **arguments: object) -> list[str]:
    return [image["ref"] for image in client.data("search_images", query=query, **arguments)["images"]]


def test_results_of_all_providers_are_interleaved(ada: ToolClient) -> None:
    result = ada.data("search_images", query="coffee")

    assert [image["provider"] for image in result["images"]] == [
        "openverse",
        "wikimedia",
        "unsplash",
        "pexels",
        "pixabay",
    ]
    assert result["next_page"] == 2
    assert result["provider_notes"] == []


def test_a_result_contains_its_credit_and_licence(ada: ToolClient) -> None:
    by_provider = {image["provider"]: image for image in ada.data("search_images", query="coffee")["images"]}

    openverse = by_provider["openverse"]
    assert openverse["license"]["code"] == "CC-BY-SA-4.0"
    assert openverse["credit"]["text"] == '"Tree Bark <Photo>" by Tim & Sons is licensed under CC BY-SA 4.0.'
    assert "Tree Bark &lt;Photo&gt;</a> by" in openverse["credit"]["html"]
    assert "Tim &amp; Sons" in openverse["credit"]["html"]
    wikimedia = by_provider["wikimedia"]
    assert (wikimedia["creator"], wikimedia["license"]["code"]) == ("Michael Gäbler", "CC-BY-3.0")
    assert "alert" not in json.dumps(wikimedia)
    assert by_provider["unsplash"]["hosting"] == "hotlink"
    assert "utm_source=pressroom&amp;utm_medium=referral" in by_provider["unsplash"]["credit"]["html"]
    assert by_provider["pixabay"]["license"]["attribution_required"] is False


def test_the_unsplash_application_name_is_validated() -> None:
    assert ImagesConfig(unsplash_app="my_app-2").unsplash_app == "my_app-2"
    with pytest.raises(ValueError, match="unsplash_app"):
        ImagesConfig(unsplash_app="my app&utm_source=another")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"orientation": "portrait"}, {"pixabay"}),
        ({"orientation": "square"}, {"pexels"}),
        ({"license": "public_domain"}, set()),
        ({"min_width": 2000}, {"unsplash", "pexels"}),
        ({"provider": "pexels"}, {"pexels"}),
    ],
)
def test_filters_apply_whatever_a_provider_supports(
    ada: ToolClient, filters: dict[str, Any], expected: set[str]
) -> None:
    assert {ref.partition(":")[0] for ref in refs(ada, **filters)} == expected


def test_a_failing_provider_adds_a_note_to_the_other_results(ada: ToolClient, providers: Providers, query: str) -> None:
    providers.broken["/pexels/"] = (500, b"<html>oops</html>")
    providers.broken["/unsplash/"] = (429, b"Rate Limit Exceeded")

    result = ada.data("search_images", query=query)

    assert [image["provider"] for image in result["images"]] == ["openverse", "wikimedia", "pixabay"]
    assert len(result["provider_notes"]) == 2
    assert "Pexels returned HTTP 500" in " ".join(result["provider_notes"])
    assert "Unsplash gets too many requests" in " ".join(result["provider_notes"])
    assert "Pexels returned HTTP 500" in ada.refusal("search_images", query=query, provider="pexels")


def test_a_repeated_search_is_not_sent_again(
    ada: ToolClient, eve: ToolClient, providers: Providers, query: str
) -> None:
    refs(ada, query)
    refs(eve, query)
    assert providers.request_count("/pixabay/") == 1


def test_keys_are_never_revealed(ada: ToolClient, providers: Providers, query: str) -> None:
    messages = json.dumps(ada.data("search_images", query=query))
    providers.broken["/"] = (500, b"")
    messages += ada.refusal("search_images", query=f"other {query}")
    for key in (UNSPLASH_KEY, PEXELS_KEY, PIXABAY_KEY):
        assert key not in messages


def test_a_downloaded_image_is_stored_and_served(ada: ToolClient, providers: Providers) -> None:
    [ref] = refs(ada, provider="openverse")

    media = ada.data("import_image", image_ref=ref, alt_text="Bark of a tree")["media"]

    served = httpx.get(media["url"])
    assert served.content == providers.files["/files/a.jpg"]
    assert served.headers["content-type"] == "image/jpeg"
    assert (media["width"], media["height"], media["bytes"]) == (1600, 900, len(served.content))
    assert media["license"]["code"] == "CC-BY-SA-4.0"
    assert "Tim &amp; Sons" in media["credit_html"]
    revalidated = httpx.get(media["url"], headers={"if-none-match": served.headers["etag"]})
    assert revalidated.status_code == 304


def test_a_hotlinked_image_is_not_copied_and_its_use_is_reported(ada: ToolClient, providers: Providers) -> None:
    [ref] = refs(ada, provider="unsplash")

    media = ada.data("import_image", image_ref=ref, alt_text="A cup of coffee")["media"]

    assert media["url"] == f"{providers.url}/files/a.jpg?regular#{media['id']}"
    assert media["bytes"] == 0
    assert providers.request_count("/files/a.jpg") == 0
    assert providers.request_count("/unsplash/photos/LBI7cgq3pbM/download") == 1


def test_concurrent_imports_store_one_image(ada: ToolClient) -> None:
    [ref] = refs(ada, provider="pexels")
    with ThreadPoolExecutor(4) as pool:
        ids = {
            imported["media"]["id"]
            for imported in pool.map(lambda _: ada.data("import_image", image_ref=ref, alt_text="Rocks"), range(4))
        }
    assert len(ids) == 1
    assert len(ada.data("list_media")["media"]) == 1


def test_an_image_is_imported_by_url(ada: ToolClient, providers: Providers) -> None:
    media = ada.data("import_image", image_ref=f"{providers.url}/files/a.jpg", alt_text="Mine")["media"]
    with ThreadPoolExecutor(3) as pool:
        url = f"{providers.url}/files/a.jpg"
        media_ids = pool.map(
            lambda _: ada.data("import_image", image_ref=url, alt_text="Mine")["media"]["id"], range(3)
        )
        assert set(media_ids) == {media["id"]}
    assert (media["provider"], media["filename"], media["license"]) == ("library", "a.jpg", None)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a JPEG, PNG, GIF, WebP or AVIF"),
        (b"", "not a JPEG, PNG, GIF, WebP or AVIF"),
        (image_bytes()[:900], "damaged"),
        (bytes(300_000), "more than 200000 bytes"),
    ],
    ids=["svg", "empty", "truncated", "too large"],
)
def test_a_file_that_is_not_a_valid_image_is_refused(
    ada: ToolClient, providers: Providers, content: bytes, problem: str
) -> None:
    providers.files["/files/b.jpg"] = content
    assert problem in ada.refusal("import_image", image_ref=f"{providers.url}/files/b.jpg", alt_text="x")
    assert ada.data("list_media")["media"] == []


def test_private_addresses_are_not_fetched(ada: ToolClient) -> None:
    for url in ("https://169.254.169.254/latest/meta-data", "https://10.0.0.1/x.png", "http://example.org/x.png"):
        assert "could not be fetched" in ada.refusal("import_image", image_ref=url, alt_text="x")


@pytest.mark.parametrize(
    "ref", ["nowhere:1", "openverse:", "openverse:../../secret", "pexels:1 OR 1=1", "wikimedia:404"]
)
def test_an_unknown_ref_is_refused(ada: ToolClient, ref: str) -> None:
    ada.refusal("import_image", image_ref=ref, alt_text="x")


def call_text(client: ToolClient, tool: str, **arguments: object) -> str:
    result = client.call(tool, **arguments)
    assert not result.get("isError"), result
    text: str = result["content"][0]["text"]
    return text


def test_a_provider_is_tried_again_if_the_connection_fails(ada: ToolClient, providers: Providers, query: str) -> None:
    providers.drops.append("/pexels/")

    assert refs(ada, query, provider="pexels") == ["pexels:2014422"]
    assert providers.request_count("/pexels/search") == 2


def test_without_a_reachable_provider_the_alternatives_are_named(
    ada: ToolClient, providers: Providers, query: str
) -> None:
    providers.drops += ["/"] * 20

    message = ada.refusal("search_images", query=query)

    for provider in ("Openverse", "Wikimedia Commons", "Unsplash", "Pexels", "Pixabay"):
        assert f"{provider} cannot be reached at the moment" in message
    for tool in ("create_upload_url", "generate_image", "import_image"):
        assert tool in message


def test_a_result_can_be_chosen_from_the_text_alone(ada: ToolClient, query: str) -> None:
    result = ada.data("search_images", query=query)
    text = call_text(ada, "search_images", query=query)

    for image in result["images"]:
        assert image["ref"] in text
        assert image["thumb_url"] in text
        assert image["license"]["code"] in text
    assert "import_image" in text
    assert "page 2" in text
    assert not text.startswith("{")


def test_the_same_file_is_one_image_whatever_its_url(ada: ToolClient, providers: Providers) -> None:
    url = f"{providers.url}/files/a.jpg"
    ids = {
        ada.data("import_image", image_ref=f"{url}?signature={number}", alt_text="Mine")["media"]["id"]
        for number in range(3)
    }

    assert len(ids) == 1
    assert len(ada.data("list_media")["media"]) == 1


def test_a_new_image_needs_an_alt_text(ada: ToolClient, providers: Providers) -> None:
    [ref] = refs(ada, provider="openverse")

    for image_ref in (ref, f"{providers.url}/files/a.jpg"):
        assert "alt_text: is missing" in ada.refusal("import_image", image_ref=image_ref)
    ada.data("import_image", image_ref=ref, alt_text="Bark")
    assert ada.data("import_image", image_ref=ref)["media"]["alt_text"] == "Bark"


def test_an_image_is_set_as_featured_only_once(ada: ToolClient) -> None:
    [ref] = refs(ada, provider="openverse")
    media = ada.data("import_image", image_ref=ref, alt_text="Bark")["media"]["id"]
    article = ada.data("create_content", title="Trees", body="Trees have bark.")
    featured = {"content_id": article["content_id"], "role": "featured"}

    first = ada.data("import_image", image_ref=media, **featured)
    repeated = ada.data("import_image", image_ref=ref, **featured)

    assert first["version"] == repeated["version"] == article["version"] + 1
    assert first["media"]["used_in"] == [article["content_id"]]
    text = call_text(ada, "import_image", image_ref=media, alt_text="Old bark", **featured)
    assert "publish_content" in text
    assert f"version is {article['version'] + 2}" in text
    assert ada.data("import_image", image_ref=media)["media"]["alt_text"] == "Bark"


def test_an_inline_image_is_returned_with_its_markdown(ada: ToolClient) -> None:
    [ref] = refs(ada, provider="openverse")
    article = ada.data("create_content", title="Trees", body="Trees have bark.")["content_id"]

    text = call_text(ada, "import_image", image_ref=ref, alt_text="Bark", content_id=article, role="inline")

    [media] = ada.data("list_media", content_id=article)["media"]
    assert f"![Bark]({media['url']})" in text
    assert "update_content" in text
    assert "list_content" in ada.refusal("import_image", image_ref=ref, alt_text="Bark", role="inline")
    assert "list_media" in ada.refusal("import_image", image_ref="m_nothing", alt_text="Bark")


def test_a_search_without_words_is_refused(ada: ToolClient, providers: Providers) -> None:
    for provider in ("auto", "library"):
        assert "query: must be between 1 and 200 characters" in ada.refusal(
            "search_images", query="  \n ", provider=provider
        )
    assert providers.requests == []


def test_a_search_of_the_library_respects_the_filters(ada: ToolClient, providers: Providers, query: str) -> None:
    for result in ada.data("search_images", query=query)["images"]:
        ada.data("import_image", image_ref=result["ref"], alt_text=query)
    providers.files["/files/tall.jpg"] = image_bytes(300, 600)
    url = f"{providers.url}/files/tall.jpg"
    tall = ada.data("import_image", image_ref=url, alt_text=query)["media"]["id"]

    def found(**filters: object) -> list[str]:
        return [
            image["ref"] for image in ada.data("search_images", query=query, provider="library", **filters)["images"]
        ]

    assert len(found()) == 6
    assert found(orientation="portrait") == [f"library:{tall}"]
    assert found(orientation="square") == []
    assert f"library:{tall}" not in found(min_width=301)
    assert len(found(min_width=301)) == 5
    assert found(license="public_domain") == [f"library:{tall}"]


def test_a_featured_image_is_set_while_the_article_changes(ada: ToolClient, query: str) -> None:
    ref = refs(ada, query)[0]
    article = ada.data("create_content", title="Tea", body="Text.")["content_id"]

    def set_image(number: int) -> int:
        image = {"image_ref": ref, "alt_text": f"A jar, {number}", "content_id": article, "role": "featured"}
        return int(ada.data("import_image", **image)["version"])

    with ThreadPoolExecutor(5) as pool:
        versions = list(pool.map(set_image, range(5)))
    assert sorted(versions) == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("provider", ["openverse", "unsplash"])
def test_the_url_of_an_image_of_the_library_stands_for_it(ada: ToolClient, query: str, provider: str) -> None:
    [result] = ada.data("search_images", query=query, provider=provider)["images"][:1]
    media = ada.data("import_image", image_ref=result["ref"], alt_text="A jar")["media"]
    article = ada.data("create_content", title="Tea", body="Text.")["content_id"]

    again = ada.data("import_image", image_ref=media["url"], alt_text="x", content_id=article, role="featured")

    assert again["media"] == {**media, "used_in": [article]}
    assert again["media"]["license"]["code"]
    assert len(ada.data("list_media")["media"]) == 1


def test_a_hotlinked_image_in_a_text_is_credited_and_kept(ada: ToolClient, query: str) -> None:
    [result] = ada.data("search_images", query=query, provider="unsplash")["images"][:1]
    website = ada.data("connect_website", platform="builtin", name=query)["website_id"]
    article = ada.data("create_content", title="Tea", body="Text.")["content_id"]
    image = {"image_ref": result["ref"], "alt_text": "A cup", "content_id": article, "role": "inline"}
    imported = ada.call("import_image", **image)
    line = imported["content"][0]["text"].rpartition("update_content: ")[2]
    media = imported["structuredContent"]["media"]

    ada.data("update_content", content_id=article, expected_version=1, fields={"body": f"Text.\n\n{line}"})

    assert ada.data("list_media")["media"][0]["used_in"] == [article]
    assert ada.data("delete_media", media_id=media["id"], confirm=True)["deleted"] is False
    page = httpx.get(ada.data("publish_content", content_id=article, website_id=website)["url"]).text
    assert "Gilbert Kane" in page
    assert media["url"].partition("#")[0] in page
    assert media["id"] not in page


def test_an_expired_link_of_the_server_is_explained(ada: ToolClient) -> None:
    link = f"{ada.host.url}/files/image-generator/8b96.png?expires=1&signature=x"
    refusal = ada.refusal("import_image", image_ref=link, alt_text="A title card")
    assert "has expired or is not complete; call the tool that made the image again" in refusal
