"""The complete story: a site is connected in the browser, then a real MCP client writes for it, using tools only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test

from support.doc_examples import DOCS
from support.mcp_clients.session import Session, session
from support.people import BrowserWithoutScreen
from support.standin_openverse import openverse
from support.tool_client import ToolClient, client_of
from support.transcript import Transcript

PLUGINS: Final = ("content", "seo", "images", "wordpress", "ghost")

PAGE: Final = DOCS / "tutorial" / "first-article.md"

OPENING: Final = """
Ada has an account on a server at `https://press.example.com` and a blog at `https://blog.example.com`, which runs on
WordPress. Her AI client is [connected](first-ai-client.md). This tutorial follows one conversation, from the first
request to a live article. It shows what Ada asks for, which tools her client calls, and what they return. To try it
yourself, ask your own client for the same things.

The client lists only the toolset `core`, which is the default.

The conversation is real: a test holds it with the official Python SDK and a real WordPress, and fails if this page is
no longer up to date. URLs, IDs, times and sizes are replaced by fixed ones, long arguments and results are shortened,
and the image search uses a test server.
"""

DRAFT: Final = """\
Good iced coffee does not need a machine. You need coarse coffee, a jar, cold water and a night of patience.
The result is mild, because cold water takes less of the bitter oils out of the beans.

## What you need

You need a large jar with a lid, a fine sieve and a paper filter. Take eighty grams of coffee that was ground as
coarse as sea salt. Fine coffee makes the drink cloudy, and the filter blocks.

## How to make it

First, put the coffee into the jar. Then pour a litre of cold water over it, and stir until no dry islands float on
top. Close the lid, and put the jar into the fridge for twelve hours. After that, pour it through the sieve, and
then slowly through the filter.

## How to serve it

The drink is strong, so mix it with the same amount of water or milk. For example, fill a glass with ice, add a
hand's width of coffee, and top it up with cold milk.
"""

ENDING: Final = """\
The drink is strong, so mix your cold brew with the same amount of water or milk. For example, fill a glass
with ice, add a hand's width of coffee, and top it up with cold milk. A slice of orange goes well with it, too.

## How long cold brew keeps

In a closed bottle your cold brew keeps for a week in the fridge. However, it tastes best on the first three days.
Do not keep the coffee grounds in it: they go on giving off bitter oils, and the taste turns woody. If you want it
to last longer, freeze it in an ice-cube tray, and use the cubes in place of ice.

## What to do when it goes wrong

If your cold brew tastes thin, use a little more coffee next time, or let it stand two hours longer. If it tastes
harsh, the coffee was too fine or stood too long. Also try other beans: those with notes of chocolate and nuts come
out well. [The story of cold brew](https://en.wikipedia.org/wiki/Cold_brew_coffee) tells where the idea comes from."""

NOTE: Final = """\
Cold brew goes well with cake that is not too sweet. Try it with a slice of lemon cake or with shortbread.
"""

NO_REDIRECTS: Final = {
    "wordpress": "Install the WordPress plugin Redirection",
    "ghost": "lets only its staff change redirects",
}
"""The error about redirects for sites without manageable redirects, by platform."""


class Assistant:
    """An AI client in one session, and its transcript."""

    def __init__(self, client: Session, transcript: Transcript) -> None:
        self._client = client
        self._transcript = transcript

    def __call__(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed, and return its structured content."""
        result = self._client.call(name, arguments)
        assert not result.get("isError"), result
        self._transcript.called(name, arguments, result)
        content: dict[str, Any] = result["structuredContent"]
        return content

    def refused(self, name: str, /, **arguments: Any) -> str:
        """Call a tool that must fail, and return the error text for the client."""
        result = self._client.call(name, arguments)
        assert result["isError"], result
        self._transcript.called(name, arguments, result)
        text: str = result["content"][0]["text"]
        return text


@contextmanager
def _hosting(folder: Path) -> Iterator[RunningHost]:
    with openverse() as images:
        config = {
            "fetch": {"private_networks": ["127.0.0.0/8"]},
            "plugins": {name: {} for name in PLUGINS} | {"images": {"config": {"openverse_url": images}}},
        }
        with RunningHost(settings_for_test(config, folder / "data")) as running:
            yield running


def _connect(host: RunningHost, person: ToolClient, link: str, **typed: str) -> None:
    """Open the link in a browser and enter the credential."""
    path = urlsplit(link).path
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, host.run(host.host.accounts.users.get(person.user_id)))
        page = browser.submit(browser.get(path), path, **typed, do="connect")
        assert "is connected" in page.text, page.text


def _add_toolset(host: RunningHost, person: ToolClient, name: str) -> None:
    connections = host.host.accounts.connections
    [connection] = host.run(connections.list(person.user_id))
    host.run(connections.set_access(person.user_id, connection.id, "full", ["core", name]))


def _seen(url: str) -> httpx.Response:
    """Return a page as visitors get it."""
    return httpx.get(url, timeout=60, follow_redirects=True)


def play_story(folder: Path, platform: str, url: str, credential: Mapping[str, str]) -> None:
    """Write, illustrate, publish, update and take down an article on a real site; on WordPress, compare the page."""
    with _hosting(folder) as host:
        person = client_of(host, "ada@example.com")
        with session(f"{host.url}/api/mcp", folder / "client", person.key) as client:
            _play(host, person, client, platform, url, credential)


def _play(
    host: RunningHost, person: ToolClient, client: Session, platform: str, url: str, credential: Mapping[str, str]
) -> None:
    images = host.host.compiled.plugins.contexts["images"].config.openverse_url
    urls = {
        host.url: "https://press.example.com",
        url: "https://blog.example.com",
        images: "https://openverse.example.org",
    }
    transcript = Transcript("From an idea to a live article", OPENING, urls)
    assistant = Assistant(client, transcript)

    transcript.heading("Connect the blog")
    transcript.says("Ada", "Connect my WordPress blog, blog.example.com.")
    link = assistant("connect_website", platform=platform, url=url, name="My blog")["connect_url"]
    transcript.add_text(
        "Ada opens the link in her browser, where she is signed in, and enters her WordPress user name and an "
        "application password. The server tries them on the blog immediately and stores them encrypted. They never "
        "pass through the conversation."
    )
    _connect(host, person, link, name="My blog", url=url, **credential)
    [site] = assistant("list_websites")["websites"]
    assert assistant("get_website", website_id=site["id"], check=True)["live_check"]["ok"]

    transcript.heading("Write")
    transcript.says("Ada", "Write a short recipe for cold brew that people find when they search for “cold brew”.")
    article = assistant(
        "create_content",
        title="Iced coffee with patience",
        body=DRAFT,
        website_id=site["id"],
        keyphrase="cold brew",
        tags=["Coffee"],
        client_request_id="cold-brew-1",
    )

    transcript.heading("Score and improve")
    transcript.says("Ada", "How good is it? Improve it.")
    score = assistant("check_blog_seo", content_id=article["content_id"])
    assert 0 < score["score"] <= 100
    assert score["next_actions"]
    improved = assistant(
        "update_content",
        content_id=article["content_id"],
        expected_version=article["version"],
        fields={
            "title": "Cold brew at home: a recipe with patience",
            "slug": "cold-brew-at-home",
            "meta_title": "Cold brew at home: a recipe with patience",
            "meta_description": (
                "Make mild cold brew at home with a jar, coarse coffee, cold water and a night of patience: "
                "amounts, times and what to do when it goes wrong."
            ),
        },
        edits=[
            {
                "find": "Good iced coffee does not need a machine. You need coarse coffee",
                "replace": "Good cold brew does not need a machine. You need coarse coffee",
            },
            {"find": "## How to make it", "replace": "## How to make cold brew"},
            {
                "find": DRAFT[DRAFT.index("The drink is strong") :].rstrip(),
                "replace": ENDING,
            },
        ],
    )
    assert improved["seo"]["delta"] > 0

    transcript.heading("Illustrate")
    transcript.says("Ada", "It needs an image that I may use.")
    [image] = assistant("search_images", query="cold brew jar", provider="openverse")["images"]
    media = assistant(
        "import_image",
        image_ref=image["ref"],
        alt_text="A jar of cold brew",
        content_id=article["content_id"],
        role="featured",
    )["media"]
    assert "Mira Sol" in json.dumps(media)

    transcript.heading("Publish")
    transcript.says("Ada", "Publish it.")
    published = assistant("publish_content", content_id=article["content_id"], website_id=site["id"])
    assert published["status"] == "published", published
    page = _seen(published["url"])
    assert "a recipe with patience" in page.text
    assert "Mira Sol" in page.text
    transcript.add_text(
        "If the result gets lost on the way, the client can safely repeat the call: an article never has more than one "
        "post on a website."
    )
    repeated = assistant("publish_content", content_id=article["content_id"], website_id=site["id"])
    assert (repeated["publication_id"], repeated["url"]) == (published["publication_id"], published["url"])

    transcript.heading("Update")
    transcript.says("Ada", "Fourteen hours is better than twelve.")
    assistant(
        "update_content",
        content_id=article["content_id"],
        expected_version=improved["version"] + 1,
        edits=[{"find": "twelve hours", "replace": "fourteen hours"}],
    )
    assistant("publish_content", content_id=article["content_id"], website_id=site["id"])
    assert "fourteen hours" in _seen(published["url"]).text

    transcript.heading("Check the live post")
    transcript.says("Ada", "Is everything all right with the live post?")
    state = assistant("list_publications", publication_id=published["publication_id"], verify=True)
    assert state["publications"][0]["status"] == "published"
    assert [publication["url"] for publication in assistant("list_publications")["publications"]] == [published["url"]]

    transcript.heading("Schedule the next one")
    transcript.says("Ada", "Now write a short note, and publish it the day after tomorrow at eight in the morning.")
    note = assistant("create_content", title="What to drink with cake", body=NOTE, website_id=site["id"])
    morning = (datetime.now(UTC) + timedelta(days=2)).strftime("%Y-%m-%dT08:00:00")
    scheduled = assistant("publish_content", content_id=note["content_id"], website_id=site["id"], publish_at=morning)
    assert scheduled["status"] == "scheduled", scheduled
    assert scheduled["publish_at"].startswith(morning)

    transcript.heading("Measure")
    transcript.says("Ada", "How is the recipe doing in search?")
    assert "connect" in assistant.refused("get_search_performance", website_id=site["id"]).lower()
    figures = assistant("get_content_performance", content_id=article["content_id"])
    assert figures["search"]["unknown"]

    transcript.heading("Use a tool that is not listed")
    transcript.says("Ada", "Save an idea for later: a comparison with iced tea.")
    tools = assistant("find_tools", query="save an idea for an article", limit=1)["tools"]
    assert [tool["name"] for tool in tools] == ["save_content_idea"]
    idea = {"title": "Cold brew or iced tea?", "keyphrase": "cold brew", "website_id": site["id"]}
    assert assistant("call_tool", name="save_content_idea", arguments=idea)["idea"]["title"] == idea["title"]

    transcript.heading("Take it down")
    transcript.says("Ada", "Take the recipe down for now. Yes, I am sure.")
    down = {"publication_id": published["publication_id"], "mode": "draft", "confirm": True}
    assert "toolset publishing" in assistant.refused("unpublish_content", **down)
    transcript.add_text(
        "Destructive tools are not in the toolset `core`, and `call_tool` does not run them either. Ada opens the page "
        "of this connection in the dashboard, and adds the toolset `publishing`."
    )
    _add_toolset(host, person, "publishing")
    unpublished = assistant("unpublish_content", publication_id=published["publication_id"], mode="draft", confirm=True)
    assert unpublished["status"] == "unpublished", unpublished
    assert _seen(published["url"]).status_code == 404

    transcript.heading("Where to go from here")
    transcript.add_text(
        "[Write articles with an AI client](../how-to/write-articles.md) sums up the steps. "
        "[Connect a website](../how-to/connect-a-website.md) covers the other platforms, and "
        "[Article tools](../reference/article-tools.md) lists every tool with its arguments."
    )

    page_text = transcript.page()
    secrets = [secret for secret in credential.values() if len(secret) > 10]
    assert not any(secret in json.dumps([state, published, site, unpublished]) + page_text for secret in secrets)
    if platform == "wordpress":
        transcript.compare(PAGE)

    redirects = assistant.refused("call_tool", name="list_redirects", arguments={"website_id": site["id"]})
    assert NO_REDIRECTS[platform] in redirects
