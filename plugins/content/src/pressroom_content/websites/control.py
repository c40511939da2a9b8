"""Proving that a website controls its URL: by its platform, a file below the URL, or a meta tag in its page.

This module also reads the head of live pages. Pages can be crafted to keep a parser busy: parse them in a worker
process.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

import structlog
from pressroom.sdk import CallError, FetchFailed, FetchRefused, InvalidInput, NotFound, PluginContext
from selectolax.lexbor import LexborHTMLParser, SelectolaxError
from sqlalchemy import ColumnElement, and_, func, literal, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute

from pressroom_content.contract import BUILTIN
from pressroom_content.contract.control import (
    FILE_NAME,
    META_NAME,
    Control,
    ControlMethod,
    ControlNotProven,
    control_of,
    is_on_this_server,
    url_key,
)
from pressroom_content.contract.sites import ConnectionCheck
from pressroom_content.records import Website
from pressroom_content.tables import PublicationRow, WebsiteRow
from pressroom_content.websites.connecting import check_website
from pressroom_content.websites.connectors import connectors
from pressroom_content.websites.findings import confirms_url
from pressroom_content.websites.store import Websites

log = structlog.get_logger()

FRESH: Final = timedelta(days=1)
"""How long a proof is valid without a new check."""

GRACE: Final = timedelta(days=14)
"""How long a proof remains valid while its site is unreachable."""

RENEWED: Final = timedelta(days=7)
"""The age at which unused proofs are renewed in the background."""

_WORDS: Final[Mapping[str, str]] = {
    "server": "it is on this server",
    "platform": "an administrator's credential",
    "file": "a file that its owner put there",
    "meta": "a meta tag that its owner put there",
}
_SECONDS: Final = 15.0
_MAX_FILE_BYTES: Final = 16_384
_MAX_PAGE_BYTES: Final = 5_000_000
_PARSED: Final = 65_536
_READ_SECONDS: Final = 5.0
_MAX_RENEWED: Final = 200


class Controls:
    """Determines which URLs websites control."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin
        self._database = plugin.services.database

    async def require(self, user_id: str, website_id: str, use: str) -> Control:
        """Return a fresh proof; see `pressroom_content.contract.require_control`.

        Raises `NotFound` and `ControlNotProven`.
        """
        control = await self.prove(user_id, website_id)
        if control.proven:
            return control
        how = await self.how(user_id, website_id)
        raise ControlNotProven(f"{use} can be used only for a website that is proven to control its URL. {how}")

    async def prove(self, user_id: str, website_id: str, *, look: bool = False) -> Control:
        """Return the state of a website's control. It is checked if the proof is not fresh, or always with `look`.

        Raises `NotFound`.
        """
        website = await self._website(user_id, website_id)
        control = control_of(website)
        if website.platform == BUILTIN:
            return control
        now = datetime.now(UTC)
        if control.proven and control.proven_at and now - control.proven_at < FRESH and not look:
            return control
        if not url_key(website.url) and website.url:
            return control
        method, certain = await self._find_proof(website)
        if method:
            await self.note(website.id, website.url, method)
        elif control.proven and (certain or control.proven_at is None or now - control.proven_at > GRACE):
            await self._withdraw(website.id)
        return control_of(await self._website(user_id, website_id))

    async def check(self, user_id: str, website_id: str) -> ConnectionCheck:
        """Check again, and return the result as an item of a live check. Raises `NotFound`."""
        control = await self.prove(user_id, website_id, look=True)
        if control.proven:
            return ConnectionCheck(
                "control", "ok", f"the website is proven to control {control.url} ({_WORDS[control.method]})"
            )
        message = "it is not proven that the website controls its URL"
        return ConnectionCheck("control", "warning", message, await self.how(user_id, website_id))

    async def how(self, user_id: str, website_id: str) -> str:
        """Return instructions for proving control of a website. Raises `NotFound`."""
        website = await self._website(user_id, website_id)
        if not website.url:
            return "Connect it again, so that the platform can say which URL it has."
        token = await self.token(website.id)
        return (
            f"Put a text file at {website.url}/{FILE_NAME} that holds the line {token}, or put "
            f'<meta name="{META_NAME}" content="{token}"> into the head of {website.url}, and try again. '
            f"{self._without_proof()}"
        ).rstrip()

    async def token(self, website_id: str) -> str:
        """Return the token of a website, creating it on the first call. Raises `NotFound`."""
        new_token = secrets.token_hex(16)
        unset = update(WebsiteRow).where(WebsiteRow.id == website_id, WebsiteRow.control_token == "")
        async with self._database.writing() as session:
            await session.execute(unset.values(control_token=new_token))
            stored = await session.scalar(select(WebsiteRow.control_token).where(WebsiteRow.id == website_id))
        if not stored:
            raise NotFound("there is no such website")
        return f"pressroom-{stored}"

    async def note(self, website_id: str, url: str, method: ControlMethod) -> None:
        """Store a proof, unless the website's URL has changed meanwhile."""
        statement = update(WebsiteRow).where(WebsiteRow.id == website_id, WebsiteRow.url == url)
        values = {"control_place": url_key(url), "control_method": method, "control_at": datetime.now(UTC)}
        if not values["control_place"]:
            return
        async with self._database.writing() as session:
            await session.execute(statement.values(**values))

    async def renew(self) -> int:
        """Renew old proofs, and obtain those that platforms can provide. Return the number of websites checked."""
        old = datetime.now(UTC) - RENEWED
        proven = and_(WebsiteRow.control_method != "", WebsiteRow.control_at < old)
        provable = and_(
            WebsiteRow.control_method == "",
            WebsiteRow.platform.in_(self._proving()),
            or_(WebsiteRow.checked_at.is_(None), WebsiteRow.checked_at < old, WebsiteRow.control_token == ""),
        )
        query = (
            select(WebsiteRow.user_id, WebsiteRow.id)
            .where(or_(proven, provable), WebsiteRow.disconnected_at.is_(None))
            .order_by(WebsiteRow.checked_at)
            .limit(_MAX_RENEWED)
        )
        async with self._database.reading() as session:
            due = [(row.user_id, row.id) for row in await session.execute(query)]
        for user_id, website_id in due:
            try:
                await self.prove(user_id, website_id)
            except NotFound:
                continue
        return len(due)

    def _without_proof(self) -> str:
        titles = [connector.title for connector in connectors(self._plugin).values() if connector.proves_control]
        if not titles:
            return ""
        verb = "need" if len(titles) > 1 else "needs"
        return f"{' and '.join(titles)} {verb} neither when connected with an administrator's credential."

    def _proving(self) -> frozenset[str]:
        """Return the platforms whose live check can prove control."""
        return frozenset(name for name, connector in connectors(self._plugin).items() if connector.proves_control)

    async def _website(self, user_id: str, website_id: str) -> Website:
        return await Websites(self._plugin).get(user_id, website_id)

    async def _withdraw(self, website_id: str) -> None:
        row = update(WebsiteRow).where(WebsiteRow.id == website_id)
        async with self._database.writing() as session:
            await session.execute(row.values(control_place="", control_method="", control_at=None))

    async def _find_proof(self, website: Website) -> tuple[ControlMethod | None, bool]:
        """Return the method that proves control, or `None`, and whether the result is certain."""
        if is_on_this_server(website.url, self._plugin.base_url):
            return None, True
        results: list[bool | None] = []
        if website.url:
            line = await self.token(website.id)
            for method, check in (("file", self._in_file), ("meta", self._in_page)):
                result = await check(website.url, line)
                if result:
                    return cast("ControlMethod", method), True
                results.append(result)
        result = await self._by_platform(website)
        if result:
            return "platform", True
        return None, None not in (*results, result)

    async def _by_platform(self, website: Website) -> bool | None:
        """Return whether the platform confirms the URL; `None` if it cannot be reached."""
        if website.platform not in self._proving():
            return False
        _, finding = await check_website(self._plugin, website.user_id, website.id)
        if confirms_url(website.url, finding.site_url):
            return True
        return None if any(check.id == "reachable" and check.status == "error" for check in finding.checks) else False

    async def _in_file(self, url: str, line: str) -> bool | None:
        content = await self._fetched(f"{url}/{FILE_NAME}", "text/plain", _MAX_FILE_BYTES)
        if content is None:
            return None
        return line in (text.strip("\ufeff \t") for text in content.decode("utf-8", "replace").splitlines())

    async def _in_page(self, url: str, line: str) -> bool | None:
        content = await self._fetched(f"{url}/", "text/html", _MAX_PAGE_BYTES)
        if content is None:
            return None
        head = content[:_PARSED]  # real heads are shorter
        try:
            run = self._plugin.services.workers.run
            return await run(names_meta, head, META_NAME, line, what="the page", seconds=_READ_SECONDS)
        except CallError:
            return None

    async def _fetched(self, url: str, accept: str, max_bytes: int) -> bytes | None:
        """Fetch a URL without redirects. Return `b""` for a definite error, `None` if the result is unknown."""
        try:
            response = await self._plugin.services.fetcher.request(
                "GET", url, headers={"Accept": accept}, max_bytes=max_bytes, seconds=_SECONDS
            )
        except FetchRefused:
            return b""
        except FetchFailed:
            return None
        if response.status >= 500 or response.status == 429:
            return None
        return response.content if response.status == 200 else b""


def speaks_for(url: InstrumentedAttribute[str]) -> ColumnElement[bool]:
    """Return the condition that the website of a joined `WebsiteRow` controls the URL in a column.

    Built-in sites control the URLs below their own path on this server, which is in `PublicationRow.path`.
    """
    prefix = literal("/sites/") + WebsiteRow.site_key + literal("/")
    on_this_server = and_(
        WebsiteRow.platform == BUILTIN, func.substr(PublicationRow.path, 1, func.length(prefix)) == prefix
    )

    def below(scheme: str) -> ColumnElement[bool]:
        begins: Any = literal(scheme) + WebsiteRow.control_place + literal("/")
        condition: ColumnElement[bool] = func.substr(url, 1, func.length(begins)) == begins
        return condition

    proven = and_(
        WebsiteRow.platform != BUILTIN,
        WebsiteRow.control_method != "",
        WebsiteRow.control_place != "",
        or_(below("https://"), below("http://")),
        ~url.contains("/.."),
        ~url.contains("\\", autoescape=True),
        ~url.icontains("%2e", autoescape=True),
    )
    return or_(on_this_server, proven)


@dataclass(frozen=True, slots=True)
class LivePageHead:
    """The canonical URL and robots rules of a page, empty if absent, and its titles and `h1` headings."""

    canonical: str
    robots: str
    titles: tuple[str, ...]


def read_live_page(content: bytes) -> LivePageHead:
    """Read the metadata of an HTML page in UTF-8. Raises `InvalidInput` if it cannot be parsed."""
    tree = _parsed(content)
    return LivePageHead(
        canonical=_attribute(tree, 'link[rel="canonical"]', "href"),
        robots=_attribute(tree, "meta[name=robots]", "content"),
        titles=tuple(node.text() for node in tree.css("h1, title")),
    )


def names_meta(content: bytes, name: str, value: str) -> bool:
    """Check whether the head of an HTML page in UTF-8 has a `meta` element with this name and content.

    Raises:
        InvalidInput: the page cannot be parsed.
    """
    head = _parsed(content).head
    tags = head.css("meta[name][content]") if head is not None else []
    return any(
        (tag.attributes.get("name") or "").lower() == name and tag.attributes.get("content") == value for tag in tags
    )


def _parsed(content: bytes) -> LexborHTMLParser:
    try:
        return LexborHTMLParser(content.decode("utf-8", "replace"))
    except SelectolaxError:
        raise InvalidInput("", "its HTML is nested too deep to be read") from None


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    node = tree.css_first(selector)
    return (node.attributes.get(name) or "") if node is not None else ""
