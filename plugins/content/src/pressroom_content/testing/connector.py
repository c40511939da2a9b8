"""The contract of a platform connector (`pressroom_content.contract.SiteConnector`), tested against a failing site."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pressroom.testing import FakeSite, RunningHost
from pressroom.testing.contracts import ContractSuite, Finding, PromiseBroken, expect
from pressroom.testing.contracts.suite import describe_error, run_apart
from pressroom.testing.fake_site import BUSY_SECONDS, Trouble, describe_trouble

from pressroom_content.contract import (
    BlockSite,
    BodyCodec,
    ConnectionReport,
    Post,
    RecallingSite,
    RemoteMedia,
    Site,
    SiteConnector,
    SiteError,
    SiteInfo,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_content.testing.bodies import check_codec
from pressroom_content.testing.troubled import (
    RedirectedFetcher,
    expect_no_secret,
    made_up_credential,
    troubled_fetcher,
    writes,
)

_POST: Final = Post(
    "pr-contract",
    "A title",
    "a-title",
    "<p>Some <strong>text</strong>.</p>",
    "Some **text**.\n",
    excerpt="In short.",
    tags=("news",),
    raw="<p>Some <strong>text</strong>.</p>",
)
_POST_ID: Final = "1"
_LOST: Final[tuple[Trouble, ...]] = ("lost response", "half", "hang")
_WRONG: Final[tuple[Trouble, ...]] = ("html", "odd", "error")
_SECONDS: Final = 45.0


@dataclass(frozen=True, slots=True)
class ConnectorAtSite:
    """A connector, a credential for it, and a fetcher whose requests all go to a fake site."""

    connector: SiteConnector
    credential: Mapping[str, str]
    fetcher: RedirectedFetcher

    @property
    def fake(self) -> FakeSite:
        """The fake site."""
        return self.fetcher.site

    def open(self) -> Site:
        """Open the website. Raises whatever the connector raises."""
        url = "https://site.example" if self.connector.needs_url else ""
        site = self.connector.open(SiteInfo("w_contract", "u_contract", "A site", url), self.credential, self.fetcher)
        if isinstance(site, RecallingSite):
            site.recall(_POST_ID, "https://site.example/a-title", "")
        return site

    def opened(self) -> Site | None:
        """Open the website, or return `None` if the connector refuses a made-up credential."""
        try:
            return self.open()
        except SiteError:
            return None

    async def call(self, ask: Callable[[], Awaitable[Any]], trouble: Trouble) -> tuple[Any, SiteError | None]:
        """Call the site while it has a problem; return the result and `None`, or `None` and the error.

        Raises:
            PromiseBroken: the call raised anything but a `SiteError`.
        """
        self.fake.requests.clear()
        self.fake.trouble = trouble
        try:
            return await ask(), None
        except SiteError as error:
            return None, error
        except Exception as error:
            raise PromiseBroken(f"{describe_error(error)} from a site that {describe_trouble(trouble)}") from error
        finally:
            self.fake.trouble = None


CONNECTOR: Final = ContractSuite[ConnectorAtSite]("connector")


def check_connector(
    connector: SiteConnector, credential: Mapping[str, str] | None = None, *, running: RunningHost | None = None
) -> list[Finding]:
    """Check a connector against its contract, and return the broken promises. No request leaves this machine.

    All requests go to a failing fake site on 127.0.0.1, so the platform itself is not needed. A connector that sends no
    requests keeps most promises trivially. If its sites use blocks, their codec is checked too.

    Args:
        connector: the connector that the plugin yields.
        credential: the values of its credential fields. By default, values are made up that match their patterns.
        running: the host in whose event loop the connector runs; needed if it uses the host's database.
    """
    values = made_up_credential(connector.fields) if credential is None else dict(credential)

    @asynccontextmanager
    async def opening() -> AsyncIterator[ConnectorAtSite]:
        async with troubled_fetcher() as fetcher:
            yield ConnectorAtSite(connector, values, fetcher)

    async def codec() -> Any:
        async with opening() as subject:
            site = subject.opened()
            return _codec_of(site)

    where = f"connector {connector.platform}"
    run = run_apart if running is None else partial(_run_in, running)
    findings: list[Finding] = run(lambda: CONNECTOR.check(opening, where=where, seconds=_SECONDS))
    blocks = None if findings else run(codec)
    return findings + ([] if blocks is None else check_codec(blocks, where=where))


def _run_in(running: RunningHost, factory: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return running.run(factory())


def _reads(site: Site) -> Iterator[tuple[str, Callable[[], Awaitable[Any]]]]:
    yield "find", lambda: site.find(_POST)
    if not _is_recalling(site):
        yield "read", lambda: site.read(_POST_ID)


def _writes(subject: ConnectorAtSite, site: Site) -> Iterator[tuple[str, Callable[[], Awaitable[Any]]]]:
    yield "create", lambda: site.create(_POST)
    if subject.connector.capabilities.update:
        yield "update", lambda: site.update(_POST_ID, _POST, "")
    yield "set_state", lambda: site.set_state(_POST_ID, "live")


@CONNECTOR.promise(
    "opening a website sends no request, and refuses an invalid credential with a SiteError",
    fix="only create the object; send requests in methods, and raise SiteRejected for what cannot be a credential",
)
async def _opens(subject: ConnectorAtSite) -> None:
    for credential in (
        subject.credential,
        {},
        dict.fromkeys(subject.credential, ""),
        dict.fromkeys(subject.credential, "\u00fc :/"),
    ):
        try:
            ConnectorAtSite(subject.connector, credential, subject.fetcher).open()
        except SiteError as error:
            expect_no_secret(f"{error} {error.hint}", credential, subject.connector.fields)
    expect(not subject.fake.requests, f"{len(subject.fake.requests)} requests")


@CONNECTOR.promise(
    "a live check says what is wrong, however the site responds",
    fix="return a ConnectionReport with an error, or raise a SiteError; do not rely on the content of a response",
)
async def _checks(subject: ConnectorAtSite) -> None:
    site = subject.opened()
    if site is None:
        return
    for trouble in (*_LOST, *_WRONG, "revoked"):
        report, error = await subject.call(site.check, trouble)
        if error is None:
            expect(type(report) is ConnectionReport, repr(report))
            passed = report.ok and bool(subject.fake.requests) and trouble != "odd"
            expect(not passed, f"all is well, at a site that {describe_trouble(trouble)}")


@CONNECTOR.promise(
    "reading raises a SiteError if the site has a problem, and asks it again at most once",
    fix="raise SiteUnavailable for 5xx, 429, and missing or foreign responses; let the server retry",
)
async def _reads_in_trouble(subject: ConnectorAtSite) -> None:
    site = subject.opened()
    for name, ask in _reads(site) if site else ():
        for trouble in (*_LOST, *_WRONG):
            value, error = await subject.call(ask, trouble)
            if not subject.fake.requests or (trouble == "odd" and value is None):
                continue  # no request was sent, or the response had no result
            expect(error is not None, f"{name} returned {value!r} from a site that {describe_trouble(trouble)}")
            paths = [request.path for request in subject.fake.requests]
            expect(all(paths.count(path) <= 2 for path in paths), f"{name} call {len(paths)} times: {paths[:3]}")
            expect(not writes(subject.fake), f"{name} sent {writes(subject.fake)[:2]}")


@CONNECTOR.promise(
    "a write whose response is lost raises UnknownOutcome, and is not sent again",
    fix="raise UnknownOutcome for FetchUnknown, and for incomplete responses to a request that changes something",
)
async def _lost(subject: ConnectorAtSite) -> None:
    site = subject.opened()
    for name, ask in _writes(subject, site) if site else ():
        for trouble in _LOST:
            value, error = await subject.call(ask, trouble)
            sent = writes(subject.fake)
            if not subject.fake.requests:
                continue
            expect(error is not None, f"{name} returned {value!r} from a site that {describe_trouble(trouble)}")
            expect(len(sent) <= 1, f"{name} sent {sent[:3]}")
            expected = UnknownOutcome if sent else SiteUnavailable
            expect(
                isinstance(error, expected),
                f"{_named(error)} from {name}, where {expected.__name__} is meant; the site "
                f"{describe_trouble(trouble)}",
            )


@CONNECTOR.promise(
    "a write that gets an unexpected response raises a SiteError, and is not sent again",
    fix="check the status, the media type and the structure of every response before you read its fields",
)
async def _unexpected_response(subject: ConnectorAtSite) -> None:
    site = subject.opened()
    for name, ask in _writes(subject, site) if site else ():
        # A receiver that only acknowledges may do so in any format.
        for trouble in ("error",) if _is_recalling(site) else _WRONG:
            value, error = await subject.call(ask, trouble)
            if not subject.fake.requests:
                continue
            expect(error is not None, f"{name} returned {value!r} from a site that {describe_trouble(trouble)}")
            sent = writes(subject.fake)
            expect(len(sent) <= 1, f"{name} sent {sent[:3]}")


@CONNECTOR.promise(
    "a revoked credential raises SiteRejected, or SiteRefused if it was not sent yet",
    fix="raise SiteRejected for 401, so that users are asked to connect the site again",
)
async def _revoked(subject: ConnectorAtSite) -> None:
    site = subject.opened()
    for name, ask in (*_reads(site), *_writes(subject, site)) if site else ():
        value, error = await subject.call(ask, "revoked")
        if subject.fake.requests:
            outcome = _named(error) if error else repr(value)
            expect(isinstance(error, SiteRejected | SiteRefused), f"{outcome} from {name}, at 401")


@CONNECTOR.promise(
    "no error reveals a secret of the credential", fix="leave headers and URLs with tokens out of messages and hints"
)
async def _secrets(subject: ConnectorAtSite) -> None:
    site = subject.opened()
    if site is None:
        return
    for ask in (lambda: site.find(_POST), lambda: site.create(_POST)):
        for trouble in (*_WRONG, "cut", "revoked"):
            _, error = await subject.call(ask, trouble)
            expect_no_secret(f"{error} {getattr(error, 'hint', '')}", subject.credential, subject.connector.fields)


@CONNECTOR.promise(
    "a site declares what it can do, no more than its platform",
    fix="let the connector's `capabilities` list all that the platform can do, and report those of the credential",
)
async def _capable(subject: ConnectorAtSite) -> None:
    site = subject.opened()
    if site is None:
        return
    declared = subject.connector.capabilities
    if declared.upload:
        media, error = await subject.call(lambda: site.find_media("pr-contract"), "html")
        expect(error is not None or media is None, f"find_media returned {media!r} from a page of HTML")
        expect(media is None or type(media) is RemoteMedia, repr(media))
    if not declared.redirects:
        _, error = await subject.call(site.redirects, "cut")
        expect(error is not None, "redirects() returned something, and the connector declares none")


@CONNECTOR.promise(
    "a write that gets 429 with Retry-After raises SiteUnavailable with that time",
    fix="raise SiteUnavailable with the seconds as retry_after, so that the server tries again at that time",
)
async def _busy(subject: ConnectorAtSite) -> None:
    # This promise is last: a connector may send nothing more until the time that the site call for.
    site = subject.opened()
    if site is None:
        return
    value, error = await subject.call(lambda: site.create(_POST), "busy")
    if subject.fake.requests:
        expect(isinstance(error, SiteUnavailable), f"{_named(error) if error else repr(value)} from create")
        retry_after = getattr(error, "retry_after", None)
        expect(
            retry_after == BUSY_SECONDS, f"retry_after is {retry_after!r}, where the site said {BUSY_SECONDS} seconds"
        )


def _codec_of(site: object) -> BodyCodec | None:
    return site.codec if isinstance(site, BlockSite) else None


def _is_recalling(site: object) -> bool:
    return isinstance(site, RecallingSite)


def _named(error: BaseException | None) -> str:
    return describe_error(error) if error is not None else "nothing"
