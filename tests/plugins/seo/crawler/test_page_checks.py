"""Page checks: a good page passes each check, and a page with the fault fails it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from pressroom_seo.crawler.records import CrawlResponse, PageRecord, page_from_json, record_of, to_json
from pressroom_seo.site_checks.model import issues_of
from pressroom_seo.site_checks.report import OF_PAGES

from .sites import HTML, SECURE, page, text

URL = "https://www.example.org/bees"


@dataclass(frozen=True)
class Draft:
    """A response that a test modifies before it is analysed."""

    html: str = str(page("/bees", "/", "/wood").body).replace("{origin}", "https://www.example.org")
    url: str = URL
    status: int = 200
    headers: dict[str, str] = field(
        default_factory=lambda: {"Content-Type": HTML, **SECURE, "Content-Encoding": "gzip"}
    )
    more: tuple[tuple[str, str], ...] = ()
    """Headers that occur several times."""

    raw: bytes | None = None
    failure: str = ""
    message: str = ""
    whole: bool = True
    first_byte: float = 0.1

    def read(self) -> PageRecord:
        content = self.html.encode() if self.raw is None else self.raw
        response = CrawlResponse(
            url=self.url,
            status=self.status,
            headers=(*((name.lower(), value) for name, value in self.headers.items()), *self.more),
            content=content,
            whole=self.whole,
            transferred=len(content),
            first_byte=self.first_byte,
            failure=self.failure,  # type: ignore[arg-type]
            message=self.message,
        )
        return record_of(response, 1)


GOOD = Draft()
Change = Callable[[Draft], Draft]


def without(old: str, new: str = "") -> Change:
    """Return a change that replaces or removes part of the page's HTML."""

    def change(draft: Draft) -> Draft:
        assert old in draft.html, old
        return replace(draft, html=draft.html.replace(old, new))

    return change


def also(html: str, where: str = "</main>") -> Change:
    return without(where, html + where)


def head(html: str) -> Change:
    return also(html, "</head>")


def header(**headers: str) -> Change:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda draft: replace(draft, headers={**draft.headers, **fields})


def no_header(name: str) -> Change:
    return lambda draft: replace(draft, headers={key: value for key, value in draft.headers.items() if key != name})


def to(**changes: object) -> Change:
    return lambda draft: replace(draft, **changes)  # type: ignore[arg-type]


def at(url: str) -> Change:
    return to(url=url)


def all_of(*changes: Change) -> Change:
    def change(draft: Draft) -> Draft:
        for step in changes:
            draft = step(draft)
        return draft

    return change


TITLE = "A long story of the bees and its making"
DESCRIPTION = GOOD.html.partition('name="description" content="')[2].partition('"')[0]
CANONICAL = '<link rel="canonical" href="https://www.example.org/bees">'
IMAGE = '<img src="/image.png" alt="An image" width="10" height="10">'
LD = '<script type="application/ld+json">'

FAULTS: dict[str, Change] = {
    "no_answer": to(status=0, failure="failed", message="www.example.org did not respond", raw=b"", headers={}),
    "address_refused": to(status=0, failure="refused", message="not on the public internet", raw=b"", headers={}),
    "server_error": to(status=502),
    "page_not_found": to(status=410),
    "client_error": to(status=403),
    "rate_limited": to(status=429),
    "temporary_redirect": to(status=302, headers={"Location": "/wood"}, raw=b""),
    "redirect_unreadable": to(status=301, headers={"Location": "https://["}, raw=b""),
    "redirect_insecure": to(status=301, headers={"Location": "http://www.example.org/bees"}, raw=b""),
    "content_cut": to(whole=False),
    "content_damaged": to(message="the compressed content is damaged"),
    "media_type_missing": no_header("Content-Type"),
    "url_too_long": at(f"{URL}/{'long-name-' * 12}"),
    "url_uppercase": at("https://www.example.org/Bees"),
    "url_underscores": at("https://www.example.org/bees_and_wasps"),
    "url_spaces": at("https://www.example.org/bees%20and"),
    "url_double_slash": at("https://www.example.org//bees"),
    "url_parameters": at(f"{URL}?a=1&b=2&c=3&d=4"),
    "soft_404": without(TITLE, "404 - Page not found"),
    "meta_refresh": head('<meta http-equiv="refresh" content="3; url=/wood">'),
    "url_session": also('<a href="/wood?PHPSESSID=12">The wood</a>'),
    "title_missing": without(TITLE),
    "title_multiple": head("<title>Another long title that is wide enough</title>"),
    "title_too_long": without(TITLE, f"{TITLE} and what came of it in the end, as told"),
    "title_too_short": without(TITLE, "The bees"),
    "description_missing": without(DESCRIPTION),
    "description_multiple": head(f'<meta name="description" content="{DESCRIPTION}">'),
    "description_too_long": without(DESCRIPTION, DESCRIPTION * 3),
    "description_too_short": without(DESCRIPTION, "Of bees."),
    "h1_missing": without("<h1>The bees</h1>"),
    "h1_multiple": also("<h1>And the wasps</h1>"),
    "heading_empty": also("<h2> </h2>"),
    "heading_order": also("<h4>Deeper</h4>"),
    "thin_content": without(text("/bees"), "Few words."),
    "placeholder_text": also("<p>Lorem ipsum dolor sit amet</p>"),
    "doctype_missing": without("<!doctype html>"),
    "encoding_missing": all_of(header(Content_Type="text/html"), without('<meta charset="utf-8">')),
    "encoding_conflict": header(Content_Type="text/html; charset=iso-8859-1"),
    "encoding_damaged": to(raw=GOOD.html.replace("More of it", "Caf\u00e9").encode("latin-1")),
    "language_missing": without(' lang="en"'),
    "viewport_missing": without('<meta name="viewport" content="width=device-width">'),
    "icon_missing": without('<link rel="icon" href="/favicon.svg">'),
    "canonical_missing": without(CANONICAL),
    "canonical_multiple": head('<link rel="canonical" href="https://www.example.org/wasps">'),
    "canonical_invalid": without(CANONICAL, '<link rel="canonical" href="https://">'),
    "canonical_relative": without(CANONICAL, '<link rel="canonical" href="/bees">'),
    "canonical_insecure": without(CANONICAL, CANONICAL.replace("https", "http")),
    "canonical_elsewhere": without(CANONICAL, '<link rel="canonical" href="https://other.example.net/bees">'),
    "noindex": header(X_Robots_Tag="noindex"),
    "noindex_and_canonical": all_of(
        head('<meta name="robots" content="NoIndex, follow">'), without(CANONICAL, CANONICAL.replace("bees", "wasps"))
    ),
    "nofollow_page": head('<meta name="robots" content="nofollow">'),
    "nosnippet": header(X_Robots_Tag="googlebot: nosnippet"),
    "hreflang_invalid": head('<link rel="alternate" hreflang="en-uk" href="/bees">'),
    "hreflang_conflict": head(
        '<link rel="alternate" hreflang="de" href="/a"><link rel="alternate" hreflang="de" href="/b">'
    ),
    "hreflang_no_self": head('<link rel="alternate" hreflang="de" href="/de/bees">'),
    "hreflang_no_default": head('<link rel="alternate" hreflang="en" href="/bees">'),
    "dead_end": all_of(without('href="/"', 'href="/bees"'), without('href="/wood"', 'href="/bees#top"')),
    "too_many_links": also('<a href="/wood">The wood</a>' * 301),
    "link_insecure": also('<a href="http://www.example.org/clay">The clay</a>'),
    "link_private": also('<a href="http://localhost:3000/draft">A draft</a>'),
    "link_unreadable": also('<a href="http://[oops/">A slip</a>'),
    "link_without_text": also('<a href="/clay"><img src="/image.png" alt="" width="1" height="1"></a>'),
    "link_text_generic": also('<a href="/clay">Click here</a>'),
    "link_nofollow": also('<a href="/clay" rel="nofollow">The clay</a>'),
    "link_uncrawlable": also('<a href="javascript:open()">The clay</a>'),
    "image_alt_missing": without(' alt="An image"'),
    "image_alt_long": without('alt="An image"', f'alt="{"An image of " * 12}"'),
    "image_without_size": without(' width="10"'),
    "structured_data_missing": without(LD, "<script>"),
    "structured_data_invalid": without(LD, f"{LD}{{,"),
    "structured_data_incomplete": without('"WebPage"', '"NewsArticle"'),
    "open_graph_missing": without('property="og:', 'property="x:'),
    "open_graph_incomplete": without('<meta property="og:type" content="article">'),
    "open_graph_image": without('content="https://img.example.org/', 'content="/'),
    "open_graph_url": without(
        '<meta property="og:url" content="https://www.example.org/bees">',
        '<meta property="og:url" content="https://www.example.org/other">',
    ),
    "twitter_card_missing": without('name="twitter:card"', 'name="x"'),
    "not_https": at("http://www.example.org/bees"),
    "mixed_content": head('<script src="http://www.example.org/a.js" async></script>'),
    "form_insecure": also('<form action="http://www.example.org/send"><input></form>'),
    "hsts_missing": no_header("Strict-Transport-Security"),
    "csp_missing": no_header("Content-Security-Policy"),
    "nosniff_missing": no_header("X-Content-Type-Options"),
    "framing_allowed": header(Content_Security_Policy="default-src 'self'"),
    "referrer_policy_missing": no_header("Referrer-Policy"),
    "slow_answer": to(first_byte=1.2),
    "not_compressed": no_header("Content-Encoding"),
    "page_heavy": also(f"<!--{'x' * 500_000}-->"),
    "too_many_elements": also("<p>x</p>" * 1401),
    "render_blocking": head('<script src="/a.js"></script>' * 9),
}


def found(draft: Draft) -> set[str]:
    return {issue.check_id for issue in issues_of(OF_PAGES, draft.read())}


def test_a_good_page_passes_every_check() -> None:
    assert found(GOOD) == set()


def test_every_check_has_a_fault_here() -> None:
    assert list(FAULTS) == [check.id for check in OF_PAGES]


@pytest.mark.parametrize("check_id", FAULTS)
def test_a_page_with_the_fault_fails_its_check(check_id: str) -> None:
    record = FAULTS[check_id](GOOD).read()
    issues = {issue.check_id: issue for issue in issues_of(OF_PAGES, record)}
    assert check_id in issues
    assert issues[check_id].url == record.url
    assert page_from_json(to_json(record)) == record


ALONE = {
    "title_too_long",
    "description_missing",
    "h1_missing",
    "noindex",
    "image_alt_missing",
    "hsts_missing",
    "slow_answer",
    "not_compressed",
    "structured_data_incomplete",
    "twitter_card_missing",
    "link_text_generic",
    "canonical_missing",
}


@pytest.mark.parametrize("check_id", sorted(ALONE))
def test_one_fault_is_one_issue(check_id: str) -> None:
    assert found(FAULTS[check_id](GOOD)) == {check_id}


def test_the_evidence_is_what_was_on_the_page() -> None:
    record = all_of(FAULTS["title_too_long"], FAULTS["structured_data_incomplete"])(GOOD).read()
    evidence = {issue.check_id: issue.evidence for issue in issues_of(OF_PAGES, record)}
    assert evidence["title_too_long"]["pixels"] > 600
    assert evidence["structured_data_incomplete"]["items"] == [
        {"type": "NewsArticle", "missing": ["headline", "image", "datePublished", "author"]}
    ]


def test_an_error_page_is_not_checked_as_a_page() -> None:
    assert found(replace(GOOD, status=404, html="<title></title>")) == {"page_not_found"}


def test_a_long_policy_still_says_who_may_frame_the_page() -> None:
    policy = (
        "script-src " + " ".join(f"https://cdn{number}.example" for number in range(60)) + "; frame-ancestors 'self'"
    )
    assert len(policy) > 1000
    record = header(Content_Security_Policy=policy)(no_header("X-Frame-Options")(GOOD)).read()
    assert "framing_allowed" not in {issue.check_id for issue in issues_of(OF_PAGES, record)}


def test_a_site_on_a_private_network_may_link_to_itself() -> None:
    link = also('<a href="http://127.0.0.1:8000/wood">The wood</a>')
    assert "link_private" not in found(all_of(at("http://127.0.0.1:8000/bees"), link)(GOOD))
    assert "link_private" in found(link(GOOD))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "10.0.0.1", "172.20.1.1", "192.168.1.1", "100.64.0.1", "[::1]", "[fd00::1]", "[fe80::1]:8000"]
)
def test_links_to_private_ip_addresses_are_found(host: str) -> None:
    assert "link_private" in found(also(f'<a href="http://{host}/draft">A draft</a>')(GOOD))


@pytest.mark.parametrize(
    "host", ["8.8.8.8", "172.32.0.1", "[2606:4700::1111]", "localhost.example.org", "10.example.org"]
)
def test_links_to_public_hosts_are_not_private(host: str) -> None:
    assert "link_private" not in found(also(f'<a href="http://{host}/page">A page</a>')(GOOD))


def test_an_image_for_sharing_is_as_secure_as_its_page() -> None:
    plain = without("https://img.example.org/", "http://img.example.org/")
    assert "open_graph_image" not in found(all_of(at("http://www.example.org/bees"), plain)(GOOD))
    assert "open_graph_image" in found(plain(GOOD))


def test_a_truncated_page_does_not_count_as_having_too_many_elements() -> None:
    record = also("<p>" + "word " * 700_000 + "</p>")(GOOD).read()
    assert record.page is not None
    assert record.page.cut
    assert "too_many_elements" not in {issue.check_id for issue in issues_of(OF_PAGES, record)}
