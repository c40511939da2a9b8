"""An account after a few weeks of work with an AI client: articles in every state, written through the tools."""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from PIL import Image
from pressroom.testing import RunningHost
from pressroom_content.websites.store import Websites

from support.content_client import Client, client_of
from support.people import HOSTILE
from support.seo_articles import GOOD_BODY
from support.standin_platform import TOKEN, StandInPlatform
from support.standin_plugin import PLATFORM

RIGHT_TO_LEFT = "كيف تحضر الشاي الأخضر في المنزل خطوة بخطوة"
ARABIC = "الشاي الأخضر مشروب صحي.\n\nجرب اليوم."
LONG_TITLE = ("A title that somebody wrote without a thought for the room that it takes on any page " * 4)[:330].strip()
UNBROKEN = "Donaudampfschifffahrtsgesellschaftskapitän" * 6


@dataclass(frozen=True, slots=True)
class Work:
    """The created items. `good` is published, with three versions, a cover and warnings; `failed` failed to publish."""

    client: Client
    site: str
    other_site: str
    good: str
    scheduled: str
    failed: str
    right_to_left: str
    long: str
    hostile: str
    at: datetime


def write_articles(host: RunningHost, email: str, platform: StandInPlatform) -> Work:
    """Write the articles, in an account that is created if missing. Requires the images plugin."""
    client = client_of(host, email, "Claude on the laptop")
    client.data("connect_website", platform="builtin", name="The kitchen table")
    site = client.data("list_websites")["websites"][0]["id"]
    client.data("update_website_settings", website_id=site, settings={"timezone": "Europe/Berlin"}, expected_version=1)
    other = host.run(
        Websites(client.plugin).add(
            client.user_id, PLATFORM, name="Bread magazine", url=platform.url, credential={"token": TOKEN}
        )
    )
    good = _good(client, site)
    scheduled = _make(client, "Rye or wheat: which flour for which bread", GOOD_BODY, website_id=site)
    publish_at = (datetime.now(UTC) + timedelta(days=2)).replace(hour=8, minute=0, second=0, microsecond=0)
    client.data(
        "publish_content", content_id=scheduled, website_id=site, mode="schedule", publish_at=publish_at.isoformat()
    )
    failed = _make(
        client, "Seven soups for a cold week", "Soups warm you.\n\n![A bowl](https://elsewhere.example/b.jpg)"
    )
    platform.fault("POST /api/posts", response=(422, "application/json", b'{"error": "the slug is taken"}', {}))
    client.call("publish_content", content_id=failed, website_id=other.id)
    table = f"| a | b |\n|--|--|\n| {UNBROKEN} | x |"
    work = Work(
        client=client,
        site=site,
        other_site=other.id,
        good=good,
        scheduled=scheduled,
        failed=failed,
        right_to_left=_make(client, RIGHT_TO_LEFT, ARABIC, language="ar"),
        long=_make(client, LONG_TITLE, f"{UNBROKEN} is a word.\n\n`{UNBROKEN}`\n\n{table}"),
        hostile=_make(client, HOSTILE, "Hi <b onclick=x>you</b><script>alert(1)</script>"),
        at=publish_at,
    )
    client.data(
        "save_content_idea", title="How to freeze bread", keyphrase="freeze bread", due=f"{publish_at:%Y-%m-%d}"
    )
    client.data("save_content_idea", title="What bakers eat", notes="Ask Ada for names.", status="planned")
    return work


def _good(client: Client, site: str) -> str:
    link = client.data("create_upload_url", content_type="image/png", filename="starter.png")
    image = io.BytesIO()
    Image.linear_gradient("L").resize((1200, 630)).convert("RGB").save(image, "PNG")
    assert httpx.put(link["upload_url"], content=image.getvalue(), timeout=60).status_code == 201
    content_id = _make(
        client,
        "Sourdough starter: how to make one in seven days",
        GOOD_BODY,
        website_id=site,
        keyphrase="sourdough starter",
        meta_description="Make a sourdough starter from flour and water in seven days.",
        tags=["bread", "basics"],
        language="en",
        author="Ada Lovelace",
    )
    client.data(
        "import_image", image_ref=link["media_id"], content_id=content_id, role="featured", alt_text="A jar on a table"
    )
    body = GOOD_BODY.replace("a jar, a spoon and a\nkitchen scale", "a clean jar, a wooden spoon and a\nscale")
    changes = {"body": body.replace("Grey water", "Dark water"), "meta_title": "A sourdough starter in seven days"}
    version = client.data("get_content", content_id=content_id)["content"]["version"]
    client.data("update_content", content_id=content_id, expected_version=version, fields=changes)
    client.data("publish_content", content_id=content_id, website_id=site)
    edits = [{"find": "Drop a spoonful", "replace": "Carefully drop a spoonful"}]
    client.data("update_content", content_id=content_id, expected_version=version + 1, edits=edits)
    return content_id


def _make(client: Client, title: str, body: str, **fields: object) -> str:
    content_id: str = client.data("create_content", title=title, body=body, **fields)["content_id"]
    return content_id
