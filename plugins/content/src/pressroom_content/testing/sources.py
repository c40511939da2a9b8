"""The contracts of image sources and search sources, tested against a failing service."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from pressroom.sdk import BackendError, CallError, InvalidInput, PluginContext, Rejected
from pressroom.testing import RunningHost
from pressroom.testing.contracts import ContractSuite, Finding, PromiseBroken, expect
from pressroom.testing.contracts.suite import describe_error, run_apart
from pressroom.testing.fake_site import Trouble, describe_trouble

from pressroom_content.contract import (
    CredentialField,
    FoundImage,
    ImagePage,
    ImageQuery,
    ImageSource,
    SearchQuery,
    SearchRow,
    SearchSource,
)
from pressroom_content.testing.troubled import (
    RedirectedFetcher,
    expect_no_secret,
    made_up_credential,
    troubled_fetcher,
    writes,
)

TROUBLES: Final[tuple[Trouble, ...]] = ("cut", "hang", "half", "html", "odd", "error", "busy", "revoked")
_AWAY: Final[tuple[Trouble, ...]] = ("cut", "hang", "half", "html", "error", "busy")
_ROWS: Final = 50_000


async def call_with_trouble(
    fetcher: RedirectedFetcher,
    trouble: Trouble | None,
    ask: Callable[[], Awaitable[Any]],
    allowed: tuple[type[Exception], ...],
) -> tuple[Any, Exception | None]:
    """Query a source while its service has a problem, if any; return the result and `None`, or `None` and the error.

    Raises:
        PromiseBroken: the source raised an error that is not allowed.
    """
    fetcher.site.requests.clear()
    fetcher.site.trouble = trouble
    try:
        return await ask(), None
    except allowed as error:
        return None, error
    except Exception as error:
        raise PromiseBroken(f"{describe_error(error)} from a service that {describe_trouble(trouble)}") from error
    finally:
        fetcher.site.trouble = None


async def expect_away(
    fetcher: RedirectedFetcher, ask: Callable[[], Awaitable[Any]], allowed: tuple[type[Exception], ...]
) -> None:
    """Raise `PromiseBroken` if a source returns a result although its service is unavailable."""
    for trouble in TROUBLES:
        value, error = await call_with_trouble(fetcher, trouble, ask, allowed)
        if fetcher.site.requests and trouble in _AWAY:
            expect(error is not None, f"{value!r:.100} from a service that {describe_trouble(trouble)}")
            expect(len(writes(fetcher.site)) <= 1, f"{writes(fetcher.site)[:3]}")


@dataclass(frozen=True, slots=True)
class ImageSourceInHost:
    """An image source, the context to query it with, and a fetcher whose requests go to a fake site."""

    source: ImageSource
    context: PluginContext
    running: RunningHost
    fetcher: RedirectedFetcher

    async def on_host(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        """Await a call on the host's event loop while all plugins fetch from the fake site."""
        with _fetching_from(self.running, self.fetcher):
            return await ask()


IMAGE_SOURCE: Final = ContractSuite[ImageSourceInHost]("image source")
_IMAGE_ERRORS: Final = (BackendError, CallError)


def check_image_source(running: RunningHost, source: ImageSource) -> list[Finding]:
    """Check an image source in a running host, and return the broken promises. No request leaves this machine."""
    contexts = running.host.compiled.plugins.contexts
    context = contexts.get("images") or contexts["content"]

    @asynccontextmanager
    async def opening() -> AsyncIterator[ImageSourceInHost]:
        async with troubled_fetcher() as fetcher:
            yield ImageSourceInHost(source, context, running, fetcher)

    return running.run(IMAGE_SOURCE.check(opening, where=f"image source {source.name}"))


def _fetching_from(running: RunningHost, fetcher: RedirectedFetcher) -> AbstractContextManager[None]:
    return running.host.compiled.plugins.provider.replaced(fetcher=fetcher)


@IMAGE_SOURCE.promise(
    "a search raises BackendError or a CallError while the provider is unavailable, and never anything unexpected",
    fix="raise BackendError for FetchFailed, for 5xx and 429, and for responses that are not the API's",
)
async def _search(subject: ImageSourceInHost) -> None:
    query = ImageQuery("bread")
    await expect_away(
        subject.fetcher, lambda: subject.on_host(lambda: subject.source.search(subject.context, query)), _IMAGE_ERRORS
    )


@IMAGE_SOURCE.promise(
    "a missing image raises NotFound, and an unavailable provider BackendError",
    fix="raise NotFound for 404 and for invalid references; never return the image of another reference",
)
async def _get(subject: ImageSourceInHost) -> None:
    for ref in ("1", "no such image", "../../etc/passwd", "\u00fc", "x" * 500):

        async def ask(ref: str = ref) -> Any:
            return await subject.on_host(lambda: subject.source.get(subject.context, ref))

        await expect_away(subject.fetcher, ask, _IMAGE_ERRORS)
        try:
            image = await ask()  # the fake site responds with 404 here
        except _IMAGE_ERRORS:
            continue
        except Exception as error:
            raise PromiseBroken(f"{describe_error(error)} for {ref[:40]!r}") from error
        fits = type(image) is FoundImage and image.ref == f"{subject.source.name}:{ref}"
        expect(fits, f"{image!r:.100} for {ref[:40]!r}")


@IMAGE_SOURCE.promise(
    "any search returns a page of images with the source's name, or is refused",
    fix="begin `ref` with the name of the source and a colon, and return no more than `per_page`",
)
async def _pages(subject: ImageSourceInHost) -> None:
    for query in (ImageQuery("bread", per_page=3), ImageQuery("\u00fc \U0001f600?&#", page=900), ImageQuery("x" * 300)):
        try:
            page = await subject.on_host(lambda query=query: subject.source.search(subject.context, query))  # type: ignore[misc]
        except _IMAGE_ERRORS:
            continue
        except Exception as error:
            raise PromiseBroken(f"{describe_error(error)} for {query!r:.100}") from error
        expect(type(page) is ImagePage and len(page.images) <= query.per_page, f"{page!r:.100}")
        foreign = [image.ref for image in page.images if not image.ref.startswith(f"{subject.source.name}:")]
        expect(not foreign, f"the references {foreign[:3]}")


@dataclass(frozen=True, slots=True)
class SearchSourceAtService:
    """A search source, a made-up credential, and a fetcher whose requests go to a fake site."""

    source: SearchSource
    credential: Mapping[str, str]
    fetcher: RedirectedFetcher

    async def rows(self) -> list[SearchRow]:
        """Return the rows of one day in each grain."""
        rows: list[SearchRow] = []
        for grain in self.source.grains:
            query = SearchQuery("https://site.example/", date(2024, 2, 29), grain=grain)
            async for row in self.source.rows(query, self.credential, self.fetcher):
                rows.append(row)
                expect(len(rows) <= _ROWS * len(self.source.grains), f"more than {_ROWS} rows")
        return rows


SEARCH_SOURCE: Final = ContractSuite[SearchSourceAtService]("search source")
SEARCH_ERRORS: Final = (BackendError, Rejected, InvalidInput)


def check_search_source(source: SearchSource, credential: Mapping[str, str] | None = None) -> list[Finding]:
    """Check a search source, and return the broken promises. No request leaves this machine.

    `credential` is the same as for `check_connector`.
    """
    values = made_up_credential(source.fields) if credential is None else dict(credential)

    @asynccontextmanager
    async def opening() -> AsyncIterator[SearchSourceAtService]:
        async with troubled_fetcher() as fetcher:
            yield SearchSourceAtService(source, values, fetcher)

    return run_apart(lambda: SEARCH_SOURCE.check(opening, where=f"search source {source.name}"))


@SEARCH_SOURCE.promise(
    "reading raises BackendError, SearchLimited or Rejected if the service has a problem",
    fix="raise SearchLimited for 429, Rejected for 401, and BackendError for missing or foreign responses",
)
async def _rows(subject: SearchSourceAtService) -> None:
    await expect_away(subject.fetcher, subject.rows, SEARCH_ERRORS)


@SEARCH_SOURCE.promise(
    "a check raises the same, and InvalidInput for a site that it does not know",
    fix="ask the service about the site, and check the status and the structure of the response",
)
async def _check(subject: SearchSourceAtService) -> None:
    check, first = subject.source.check, subject.source.first_incomplete
    if check is not None:
        await expect_away(
            subject.fetcher, lambda: check("https://site.example/", subject.credential, subject.fetcher), SEARCH_ERRORS
        )
    if first is not None:
        for trouble in TROUBLES:
            value, error = await call_with_trouble(
                subject.fetcher,
                trouble,
                lambda: first("https://site.example/", subject.credential, subject.fetcher),
                SEARCH_ERRORS,
            )
            expect(error is not None or isinstance(value, date), f"{value!r} as the first incomplete day")


@SEARCH_SOURCE.promise(
    "invalid input is refused with an explanation, and no error reveals a secret",
    fix="raise Rejected for a credential that cannot be parsed; leave headers and tokens out of messages",
)
async def _credentials(subject: SearchSourceAtService) -> None:
    await expect_refused_in_words(
        subject.source.fields, subject.credential, subject.fetcher, lambda variant: _with(subject, variant).rows()
    )


def _with(subject: SearchSourceAtService, credential: Mapping[str, str]) -> SearchSourceAtService:
    return SearchSourceAtService(subject.source, credential, subject.fetcher)


async def expect_refused_in_words(
    fields: tuple[CredentialField, ...],
    credential: Mapping[str, str],
    fetcher: RedirectedFetcher,
    ask: Callable[[Mapping[str, str]], Awaitable[Any]],
) -> None:
    """Query with a made-up credential and with invalid ones. Raise `PromiseBroken` if an error reveals a secret."""
    for variant in (credential, dict.fromkeys(credential, ""), dict.fromkeys(credential, "\u00fc {}:/\n")):
        for trouble in ("revoked", "html"):
            _, error = await call_with_trouble(fetcher, trouble, lambda variant=variant: ask(variant), SEARCH_ERRORS)  # type: ignore[misc]
            expect_no_secret(f"{error} {getattr(error, 'hint', '')}", variant, fields)
