"""Pages of the built-in site cause no false alarms in `check_page_seo`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from pressroom_content.builtin_site.summaries import page_title, shortened, summary
from pressroom_seo.scoring.snippet import pixel_width
from pressroom_seo.site_checks.page_text import DESCRIPTION_SIZE, DESCRIPTION_WIDTHS, TITLE_SIZE, TITLE_WIDTHS
from support.seo_articles import GOOD, GOOD_BODY
from support.tool_client import ToolClient

from .conftest import wait_until_live

BODY: Final = "\n".join(line for line in GOOD_BODY.splitlines() if not line.startswith("!["))
ON_LOOPBACK: Final = {"not_https", "form_insecure"}
"""Faults of a server started by tests that a publicly reachable one does not have."""


def _wrong(ada: ToolClient, url: str) -> set[str]:
    return {check["id"] for check in ada.data("check_page_seo", url=url, keyphrase=GOOD.keyphrase)["checks"]}


def test_a_post_and_the_home_page_of_the_built_in_site_are_checked_by_their_type(ada: ToolClient) -> None:
    website = ada.data("connect_website", platform="builtin", name="Bread at home")["website_id"]
    fields = {"meta_description": GOOD.description, "author": "Ada Baker", "website_id": website, "language": "en"}
    urls = []
    for title in (GOOD.title, "Choosing flour for bread that rises every time"):
        article = ada.data("create_content", title=title, body=BODY, keyphrase=GOOD.keyphrase, tags=["bread"], **fields)
        ada.data("publish_content", content_id=article["content_id"], website_id=website)
        wait_until_live(ada, article["content_id"])
        [post] = ada.data("list_publications", content_id=article["content_id"])["publications"]
        urls.append(post["url"])

    # Its only image was left out, and with it a mention of the keyphrase.
    assert _wrong(ada, urls[0]) == {*ON_LOOPBACK, "keyphrase_distribution"}

    site = urls[0].rpartition("/")[0]
    [form] = [check for check in ada.data("check_page_seo", url=urls[0])["checks"] if check["id"] == "form_insecure"]
    assert form["evidence"] == [f"urls: {site}/search"]

    home = ada.data("check_page_seo", url=site)
    wrong = {check["id"] for check in home["checks"]}
    about_articles = {"author_and_dates", "structured_data", "intro_length", "image_count", "outbound_links"}
    assert about_articles <= set(home["skipped"])
    assert not wrong & {"crawlable_links", "link_private", "structured_data_missing", "canonical_missing", "dead_end"}


SAMPLES: Final = {
    **{file.stem: file.read_text("utf-8") for file in (Path(__file__).parents[1] / "scoring").glob("*/*.md")},
    "ru": "Пчёлы собирают нектар с цветов и делают из него мёд. Пасечник заботится о семьях весь год. ",  # noqa: RUF001
    "el": "Οι μέλισσες συλλέγουν νέκταρ από τα λουλούδια και φτιάχνουν μέλι στην κυψέλη τους. ",  # noqa: RUF001
    "ar": "يجمع النحل رحيق الأزهار ويصنع منه العسل في خلاياه. ",
    "he": "הדבורים אוספות צוף מן הפרחים ועושות ממנו דבש בכוורת שלהן. ",
    "hi": "मधुमक्खियाँ फूलों से रस इकट्ठा करती हैं और छत्ते में शहद बनाती हैं। ",
    "ja": "蜜蜂は花の蜜を集めて蜂蜜を作ります。",
    "capitals": "HOW BEES TURN NECTAR INTO HONEY AND KEEP IT FOR THE WINTER MONTHS. ",
}


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_generated_descriptions_and_titles_fit_into_a_search_result(name: str) -> None:
    words = " ".join(SAMPLES[name].split())
    text = f"{words} " * (1 + 3000 // len(words))
    for start in range(0, 2000, 53):
        description = summary(f"<p>{text[start : start + 600]}</p>")
        assert pixel_width(description, DESCRIPTION_SIZE) <= DESCRIPTION_WIDTHS[1], description
        assert pixel_width(description, DESCRIPTION_SIZE) >= DESCRIPTION_WIDTHS[0], description
        title = shortened(text[start:], 40)
        full_title = page_title(title, "A blog about bees")
        assert full_title == title or pixel_width(full_title, TITLE_SIZE) <= TITLE_WIDTHS[1], full_title
