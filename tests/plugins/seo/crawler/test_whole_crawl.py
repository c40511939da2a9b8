"""A complete crawl, from robots.txt to the score."""

from .sites import World, crawl, good_site


async def test_a_good_site_has_no_issues(world: World) -> None:
    async with world.site(good_site()) as site:
        crawled = await crawl(world, site)
    assert crawled.found() == set()
    summary = crawled.report.summary()
    assert summary.pages == 4
    assert summary.score >= 95
