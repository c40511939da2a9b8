"""The registry of checks: invalid registrations, and unknown checks."""

from __future__ import annotations

import pytest
from pressroom_seo.checks import CHECKS, CheckRegistry, unknown_check
from pressroom_seo.scoring.checks import ARTICLE_CHECKS
from pressroom_seo.scoring.rules import ArticleCheck, good
from pressroom_seo.site_checks.model import CrawlCheck, PageCheck, SiteCheck
from pressroom_seo.site_checks.report import CRAWL_CHECKS, OF_PAGES, OF_SITES


def article_check(name: str) -> ArticleCheck:
    return ArticleCheck(name, lambda context, rule: good("It is."))


def page_check(name: str) -> PageCheck:
    return PageCheck(name, "notice", "content", "It is not.", "Make it.", lambda record, page: None)


def site_check(name: str) -> SiteCheck:
    return SiteCheck(name, "notice", "content", "It is not.", "Make it.", lambda index: ())


def test_every_check_is_in_the_registry() -> None:
    assert {check.scope for check in ARTICLE_CHECKS.values()} == {"article"}
    assert {check.scope for check in OF_PAGES} == {"page"}
    assert {check.scope for check in OF_SITES} == {"site"}
    assert CHECKS.of(ArticleCheck) == ARTICLE_CHECKS
    assert CHECKS.of(CrawlCheck) == CRAWL_CHECKS == {check.id: check for check in (*OF_PAGES, *OF_SITES)}


def test_checks_of_a_report_have_their_own_ids() -> None:
    registry = CheckRegistry()
    registry.add(page_check("titles"))

    with pytest.raises(ValueError, match="two checks 'titles'"):
        registry.add(site_check("titles"))

    registry.add(article_check("titles"))
    assert list(registry.of(CrawlCheck)) == list(registry.of(ArticleCheck)) == ["titles"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("titel_length", "there is no check 'titel_length'; did you mean title_length?"),
        ("x", "there is no check 'x'; leave it out to see all"),
    ],
)
def test_an_unknown_check_is_named_with_the_closest_one(name: str, expected: str) -> None:
    error = unknown_check("check_id", name, ["title_length", "title_missing"], "leave it out to see all")

    assert (error.field, error.problem) == ("check_id", expected)
