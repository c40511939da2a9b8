"""The contracts of connectors, codecs, sources and languages report each violation with its fix."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Literal

import pytest
from pressroom.sdk import BackendError, Fetcher, FetchFailed, FetchUnknown, Rejected
from pressroom.testing.contracts import Finding, Promise
from pressroom_content.contract import (
    BasicSite,
    BodyBlock,
    Capabilities,
    ConnectionCheck,
    ConnectionReport,
    CredentialField,
    Language,
    Post,
    RemotePost,
    RemoteRedirect,
    SearchQuery,
    SearchSource,
    SiteApi,
    SiteConnector,
    SiteError,
    SiteInfo,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_content.testing import check_codec, check_connector, check_language, check_search_source
from pressroom_content.testing.bodies import CODEC
from pressroom_content.testing.connector import CONNECTOR
from pressroom_content.testing.language import LANGUAGE
from pressroom_content.testing.sources import SEARCH_SOURCE
from support.contracts import assert_broken

FIELDS: Final = (CredentialField("token", "Token", pattern=r"tok_[a-f0-9]{12}"),)
CAPABILITIES: Final = Capabilities(draft=True, update=True, unpublish=True)


class ShelfOverHttp(BasicSite):
    """A site that fulfils the contract; each class below breaks one promise."""

    capabilities = CAPABILITIES

    def __init__(self, info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        self.token = credential.get("token", "")
        self.fetcher = fetcher
        self.api = SiteApi(fetcher, "Shelf", f"{info.url}/api", {"Authorization": f"Bearer {self.token.encode()!r}"})

    async def check(self) -> ConnectionReport:
        try:
            response = await self.api.get("/me")
        except SiteRejected:
            return ConnectionReport((ConnectionCheck("credential", "error", "no"),), Capabilities())
        if not isinstance(response.body, dict) or not isinstance(response.body.get("name"), str):
            raise SiteUnavailable("Shelf answered something else")
        return ConnectionReport((ConnectionCheck("credential", "ok", "yes"),), CAPABILITIES)

    async def find(self, post: Post) -> RemotePost | None:
        response = await self.api.get("/posts", {"marker": post.marker})
        if not isinstance(response.body, list):
            raise SiteUnavailable("Shelf answered something else")
        return None

    async def create(self, post: Post) -> RemotePost:
        return self.made((await self.api.send("POST", "/posts", document={"title": post.title})).body)

    async def read(self, post_id: str) -> RemotePost:
        body = (await self.api.get(f"/posts/{post_id}")).body
        if not isinstance(body, dict) or not isinstance(body.get("id"), str):
            raise SiteUnavailable("Shelf answered something else")
        return self.made(body)

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        return self.made((await self.api.send("PUT", f"/posts/{post_id}", document={"title": post.title})).body)

    async def set_state(
        self, post_id: str, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None
    ) -> RemotePost:
        self.require_state(state)
        return self.made((await self.api.send("PUT", f"/posts/{post_id}", document={"state": state})).body)

    def made(self, body: Any) -> RemotePost:
        if not isinstance(body, dict) or not isinstance(body.get("id"), str):
            raise UnknownOutcome("Shelf answered something else")
        return RemotePost(body["id"], "https://site.example/1", "draft", "1")


class OpensRudely(ShelfOverHttp):
    def __init__(self, info: SiteInfo, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        super().__init__(info, credential, fetcher)
        int(credential["token"].removeprefix("tok_"), 16)


class ChecksBlindly(ShelfOverHttp):
    async def check(self) -> ConnectionReport:
        with suppress(SiteError):
            await self.api.get("/me")
        return ConnectionReport((ConnectionCheck("credential", "ok", "yes"),), CAPABILITIES)


class TrustsWhatItReads(ShelfOverHttp):
    async def find(self, post: Post) -> RemotePost | None:
        body = (await self.api.get("/posts", {"marker": post.marker})).body
        return RemotePost(body["id"].upper(), body["url"], "live", body["revision"])


class AsksAgainAndAgain(ShelfOverHttp):
    async def find(self, post: Post) -> RemotePost | None:
        for _ in range(4):
            try:
                return await super().find(post)
            except SiteUnavailable:
                continue
        raise SiteUnavailable("Shelf is away")


class CallsItUnavailable(ShelfOverHttp):
    async def create(self, post: Post) -> RemotePost:
        try:
            return await super().create(post)
        except UnknownOutcome as error:
            raise SiteUnavailable(error.message) from error


class PostsTwice(ShelfOverHttp):
    async def create(self, post: Post) -> RemotePost:
        try:
            return await super().create(post)
        except UnknownOutcome:
            return await super().create(post)


class AcceptsAnyResponse(ShelfOverHttp):
    def made(self, body: Any) -> RemotePost:
        return RemotePost("1", "https://site.example/1", "draft", "1")


class TakesARefusalForAnOutage(ShelfOverHttp):
    async def find(self, post: Post) -> RemotePost | None:
        try:
            return await super().find(post)
        except SiteRejected as error:
            raise SiteUnavailable(error.message) from error


class GivesUpWhenBusy(ShelfOverHttp):
    async def create(self, post: Post) -> RemotePost:
        try:
            return await super().create(post)
        except SiteUnavailable as error:
            raise UnknownOutcome(error.message) from error


class ForgetsHowLong(ShelfOverHttp):
    async def create(self, post: Post) -> RemotePost:
        try:
            return await super().create(post)
        except SiteUnavailable as error:
            raise SiteUnavailable(error.message) from error


class WaitsAsLongAsItLikes(ShelfOverHttp):
    async def create(self, post: Post) -> RemotePost:
        try:
            return await super().create(post)
        except SiteUnavailable as error:
            raise SiteUnavailable(error.message, retry_after=60) from error


class LeaksItsToken(ShelfOverHttp):
    async def find(self, post: Post) -> RemotePost | None:
        try:
            return await super().find(post)
        except SiteUnavailable as error:
            raise SiteUnavailable(f"{error.message}: /posts?token={self.token}") from error


class RedirectsUndeclared(ShelfOverHttp):
    async def redirects(self) -> Sequence[RemoteRedirect]:
        return []


def connector(site: type[ShelfOverHttp]) -> SiteConnector:
    return SiteConnector("shelf", "Shelf", "A shelf.", site, CAPABILITIES, FIELDS)


def test_a_connector_that_keeps_its_promises_gets_no_findings() -> None:
    assert check_connector(connector(ShelfOverHttp)) == []


CONNECTORS: Final[tuple[tuple[str, type[ShelfOverHttp]], ...]] = (
    ("opens", OpensRudely),
    ("checks", ChecksBlindly),
    ("reads_in_trouble", TrustsWhatItReads),
    ("reads_in_trouble", AsksAgainAndAgain),
    ("lost", CallsItUnavailable),
    ("lost", PostsTwice),
    ("unexpected_response", AcceptsAnyResponse),
    ("revoked", TakesARefusalForAnOutage),
    ("busy", GivesUpWhenBusy),
    ("busy", ForgetsHowLong),
    ("busy", WaitsAsLongAsItLikes),
    ("secrets", LeaksItsToken),
    ("capable", RedirectsUndeclared),
)


@pytest.mark.parametrize(("name", "site"), CONNECTORS)
def test_a_connector_that_breaks_a_promise_gets_a_finding(name: str, site: type[ShelfOverHttp]) -> None:
    assert_broken(named(CONNECTOR.promises, name), check_connector(connector(site)), contract="connector")


class LineCodec:
    """Splits bodies at line ends; each class below breaks one promise."""

    def split(self, raw: str) -> Sequence[BodyBlock]:
        return [BodyBlock(line, "line") for line in raw.splitlines(keepends=True)]

    def join(self, sources: Sequence[str], original: str = "") -> str:
        return "".join(sources)

    def encode(self, html: str, markdown: str) -> Sequence[str]:
        return [f"{markdown}\n"]


class StripsCodec(LineCodec):
    def split(self, raw: str) -> Sequence[BodyBlock]:
        return [replace(block, source=block.source.rstrip()) for block in super().split(raw)]


class NamelessCodec(LineCodec):
    def split(self, raw: str) -> Sequence[BodyBlock]:
        return [replace(block, name="") for block in super().split(raw)]


class CountingCodec(LineCodec):
    calls = itertools.count()

    def split(self, raw: str) -> Sequence[BodyBlock]:
        return [replace(block, name=f"line {next(self.calls)}") for block in super().split(raw)]


class RaisingCodec(LineCodec):
    def encode(self, html: str, markdown: str) -> Sequence[str]:
        return [markdown.encode().decode()]


class KeepsTheOriginal(LineCodec):
    def join(self, sources: Sequence[str], original: str = "") -> str:
        return original or "".join(sources)


class LambdaCodec(LineCodec):
    def __init__(self) -> None:
        self.helper = lambda: None


def test_a_codec_that_keeps_its_promises_gets_no_findings() -> None:
    assert check_codec(LineCodec()) == []


CODECS: Final[tuple[tuple[str, Callable[[], LineCodec]], ...]] = (
    ("exact", StripsCodec),
    ("blocks", NamelessCodec),
    ("same", CountingCodec),
    ("encodes", RaisingCodec),
    ("replaces", KeepsTheOriginal),
    ("pickles", LambdaCodec),
)


@pytest.mark.parametrize(("name", "make"), CODECS)
def test_a_codec_that_breaks_a_promise_gets_a_finding(name: str, make: Callable[[], LineCodec]) -> None:
    assert_broken(named(CODEC.promises, name), check_codec(make()), contract="body codec")


def search_source(*, forgiving: bool | None = False, check: Any = None) -> SearchSource:
    async def rows(query: SearchQuery, credential: Mapping[str, str], fetcher: Fetcher) -> Any:
        response = await request_rows(fetcher, credential)
        if response.status == 401:
            raise Rejected("no")
        if not forgiving and response.media_type != "application/json":
            raise BackendError("the service is away")
        if forgiving is None:
            yield

    async def request_rows(fetcher: Fetcher, credential: Mapping[str, str]) -> Any:
        try:
            return await fetcher.get("https://api.example/rows", accept="*/*", max_bytes=1000, seconds=5)
        except FetchFailed as error:
            raise BackendError("the service is away") from error

    return SearchSource("figures", "Figures", rows, fields=FIELDS, check=check)


def test_a_search_source_that_keeps_its_promises_gets_no_findings() -> None:
    assert check_search_source(search_source()) == []


def test_a_search_source_that_trusts_any_response_gets_a_finding() -> None:
    findings = check_search_source(search_source(forgiving=True))
    assert_broken(named(SEARCH_SOURCE.promises, "rows"), findings, contract="search source")


def test_a_search_source_whose_check_lets_errors_through_gets_a_finding() -> None:
    async def check(site_url: str, credential: Mapping[str, str], fetcher: Fetcher) -> None:
        await fetcher.get("https://api.example/site", accept="*/*", max_bytes=1000, seconds=5)

    findings = check_search_source(search_source(check=check))
    assert_broken(named(SEARCH_SOURCE.promises, "check"), findings, contract="search source")


def test_a_search_source_that_leaks_its_token_gets_a_finding() -> None:
    async def rows(query: SearchQuery, credential: Mapping[str, str], fetcher: Fetcher) -> Any:
        if query.day.year:
            raise BackendError(f"no figures for {credential['token']}")
        yield

    findings = check_search_source(replace(search_source(), rows=rows))
    assert_broken(named(SEARCH_SOURCE.promises, "credentials"), findings, contract="search source")


def plain_stemmer(word: str) -> str:
    return word.removesuffix("s") or word


def raising_stemmer(word: str) -> str:
    return word[0]


def test_a_language_that_keeps_its_promises_gets_no_findings() -> None:
    assert check_language(Language("en", "", plain_stemmer)) == []


def test_a_stemmer_that_raises_gets_a_finding() -> None:
    findings = check_language(Language("en", "", raising_stemmer))
    assert_broken(named(LANGUAGE.promises, "stems"), findings, contract="language")


def named(promises: Sequence[Promise[Any]], name: str) -> Promise[Any]:
    [promise] = [promise for promise in promises if promise.name == name]
    return promise


def test_findings_name_the_connector() -> None:
    findings: list[Finding] = check_connector(connector(PostsTwice))
    assert {finding.where for finding in findings} == {"connector shelf"}
    assert FetchUnknown.code not in str(findings)
