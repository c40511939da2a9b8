"""Recorded HTTP requests and responses of plugins, so that tests run offline."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pressroom.errors import FetchFailed, FetchRefused, FetchUnknown
from pressroom.observability.secrets import MASK, is_secret_name, masked_text
from pressroom.sdk import Fetched, Fetcher, FetchResponse

if TYPE_CHECKING:
    from pressroom.testing.running import RunningHost

RECORD_VARIABLE: Final = "PRESSROOM_TEST_RECORD"
"""Set this environment variable to 1 to use the real services and record their responses."""

_VERSION: Final = 1
_HARMLESS: Final = frozenset({"accept", "accept-language", "content-type"})
_SECRET_QUERIES: Final = frozenset({"auth", "code", "hmac", "jwt", "key", "pass", "session", "sid", "sig"})
_MIN_SECRET: Final = 6
_FORM: Final = "application/x-www-form-urlencoded"
_LINKED: Final = re.compile(r"<([^<>]*)>")
_ERRORS: Final = {error.code: error for error in (FetchFailed, FetchRefused, FetchUnknown)}


class UnrecordedRequest(AssertionError):
    """A plugin sent a request that was not recorded. The message lists it, and explains how to record again."""


@dataclass(slots=True)
class RecordedHttp:
    """The requests of one recording. It implements `pressroom.sdk.Fetcher`.

    Secrets are kept out of the file. Of the request headers, only `Accept`, `Accept-Language` and `Content-Type` are
    recorded. `Set-Cookie`, and query parameters, form fields and JSON fields whose names suggest a secret are masked.
    User names and passwords are removed from URLs. This includes URLs in `Location`, `Content-Location` and `Link`.
    The values of `secrets` are masked wherever they occur. Other secrets, such as in HTML, are only masked if their
    values are in `secrets` or were recognised elsewhere.

    `file` is written if `recording` is true, and read otherwise. `unknown` lists the requests that were not recorded.
    """

    file: Path
    inner: Fetcher
    recording: bool = False
    secrets: Sequence[str] = ()
    unknown: list[str] = field(default_factory=list)
    _entries: list[dict[str, Any]] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Read the file. Raises `ValueError` if it is not a recording."""
        self._seen.update(secret for secret in self.secrets if secret)
        if not self.recording and self.file.exists():
            document = json.loads(self.file.read_text(encoding="utf-8"))
            if not isinstance(document, dict) or document.get("version") != _VERSION:
                raise ValueError(f"{self.file} is not a recording of this version; record it anew")
            self._entries = list(document["requests"])

    async def get(self, url: str, *, accept: str, max_bytes: int, seconds: float, redirects: int = 3) -> Fetched:
        """See `pressroom.sdk.Fetcher`."""
        request = self._request_entry("GET", url, {"Accept": accept}, b"")
        if not self.recording:
            return self._replayed(request, max_bytes)
        try:
            fetched = await self.inner.get(
                url, accept=accept, max_bytes=max_bytes, seconds=seconds, redirects=redirects
            )
        except (FetchFailed, FetchRefused, FetchUnknown) as error:
            raise self._failed(request, error) from None
        return self._recorded(request, fetched)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        max_bytes: int,
        seconds: float,
        redirects: int = 0,
    ) -> Fetched:
        """See `pressroom.sdk.Fetcher`."""
        request = self._request_entry(method, url, headers or {}, content)
        if not self.recording:
            return self._replayed(request, max_bytes)
        try:
            fetched = await self.inner.request(
                method,
                url,
                headers=headers,
                content=content,
                max_bytes=max_bytes,
                seconds=seconds,
                redirects=redirects,
            )
        except (FetchFailed, FetchRefused, FetchUnknown) as error:
            raise self._failed(request, error) from None
        return self._recorded(request, fetched)

    async def exchange(
        self,
        url: str,
        *,
        accept: str,
        max_bytes: int,
        seconds: float,
        method: Literal["GET", "HEAD"] = "GET",
        encodings: str = "identity",
        plain_http: bool = False,
    ) -> FetchResponse:
        """See `pressroom.sdk.Fetcher`."""
        request = self._request_entry(method, url, {"Accept": accept}, b"")
        if not self.recording:
            response = self._response_to(request)
            content = _bytes_of(response)
            pairs = tuple((name, value) for name, value in response["headers"])
            complete = len(content) <= max_bytes
            return FetchResponse(response["url"], response["status"], pairs, content[:max_bytes], complete, 0.0, 0.0)
        try:
            fetched = await self.inner.exchange(
                url,
                accept=accept,
                max_bytes=max_bytes,
                seconds=seconds,
                method=method,
                encodings=encodings,
                plain_http=plain_http,
            )
        except (FetchFailed, FetchRefused, FetchUnknown) as error:
            raise self._failed(request, error) from None
        self._keep(request, fetched.url, fetched.status, fetched.headers, fetched.content)
        return fetched

    def connect(
        self, host: str, port: int, *, seconds: float
    ) -> AbstractAsyncContextManager[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Raise `FetchRefused`: only HTTP can be recorded."""
        del port, seconds
        raise FetchRefused(f"{host}: recordings contain only HTTP requests; run the test against a server of its own")

    def write(self) -> None:
        """Write the recording to its file, and create the folder if necessary."""
        # Mask once more, since some secrets only become known after they occurred in a response.
        text = json.dumps({"version": _VERSION, "requests": self._entries}, indent=2, ensure_ascii=False)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(f"{self._without_secrets(text)}\n", encoding="utf-8")

    def _request_entry(self, method: str, url: str, headers: Mapping[str, str], content: bytes) -> dict[str, Any]:
        for name, value in headers.items():
            if is_secret_name(name):
                self._seen.update(word for word in value.split() if len(word) >= _MIN_SECRET)
        safe_headers = {name.lower(): value for name, value in headers.items() if name.lower() in _HARMLESS}
        request = {"method": method, "url": self._masked_url(url), "headers": safe_headers}
        return {**request, **self._body(content, headers.items())} if content else request

    def _replayed(self, request: Mapping[str, Any], max_bytes: int) -> Fetched:
        response = self._response_to(request)
        content = _bytes_of(response)
        if len(content) > max_bytes:
            raise FetchRefused(f"{urlsplit(response['url']).hostname} sends more than {max_bytes} bytes")
        headers: dict[str, str] = {}
        for name, value in response["headers"]:
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        return Fetched(response["url"], response["status"], media_type, content, headers, tuple(response["redirects"]))

    def _response_to(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the next recorded response to a request. Raises the recorded error, or `UnrecordedRequest`."""
        key = _key(request)
        for number, entry in enumerate(self._entries):
            if _key(entry["request"]) == key:
                del self._entries[number]
                if "error" in entry:
                    raise _ERRORS[entry["error"]["code"]](entry["error"]["message"])
                response: Mapping[str, Any] = entry["answer"]
                return response
        self.unknown.append(f"{request['method']} {request['url']}")
        raise UnrecordedRequest(self.explanation())

    def explanation(self) -> str:
        """Return a message with the unrecorded requests, the remaining recorded ones, and how to record again."""
        remaining = [f"{entry['request']['method']} {entry['request']['url']}" for entry in self._entries]
        on_record = f"still on record: {'; '.join(remaining)}" if remaining else "nothing more is on record"
        return (
            f"not on record in {self.file}: {'; '.join(self.unknown)} ({on_record}). "
            f"Record it anew against the real service: {RECORD_VARIABLE}=1 python -m pytest"
        )

    def _recorded(self, request: Mapping[str, Any], fetched: Fetched) -> Fetched:
        self._keep(request, fetched.url, fetched.status, fetched.headers.items(), fetched.content, fetched.redirects)
        return fetched

    def _keep(
        self,
        request: Mapping[str, Any],
        url: str,
        status: int,
        headers: Iterable[tuple[str, str]],
        content: bytes,
        redirects: Iterable[str] = (),
    ) -> None:
        pairs = tuple(headers)
        response = {
            "url": self._masked_url(url),
            "status": status,
            "headers": [[name, self._masked_header(name, value)] for name, value in pairs],
            "redirects": [self._masked_url(redirect) for redirect in redirects],
            **self._body(content, pairs),
        }
        self._entries.append({"request": dict(request), "answer": response})

    def _failed(
        self, request: Mapping[str, Any], error: FetchFailed | FetchRefused | FetchUnknown
    ) -> FetchFailed | FetchRefused | FetchUnknown:
        failure = {"code": error.code, "message": self._without_secrets(error.message)}
        self._entries.append({"request": dict(request), "error": failure})
        return error

    def _body(self, content: bytes, headers: Iterable[tuple[str, str]]) -> dict[str, Any]:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(content).decode()}
        types = [value.partition(";")[0].strip().lower() for name, value in headers if name.lower() == "content-type"]
        if _FORM in types:
            return {"text": self._without_secrets(self._masked_query(text))}
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return {"text": self._without_secrets(text)}
        masked = self._masked_members(document)
        return {"text": self._without_secrets(text if masked == document else json.dumps(masked, ensure_ascii=False))}

    def _masked_members(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: self._hidden(item) if is_secret_name(name) else self._masked_members(item)
                for name, item in value.items()
            }
        return [self._masked_members(item) for item in value] if isinstance(value, list) else value

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            if len(value) >= _MIN_SECRET:
                self._seen.add(value)
            return MASK
        return MASK if value else value

    def _masked_header(self, name: str, value: str) -> str:
        if is_secret_name(name):
            return MASK
        match name.lower():
            case "location" | "content-location":
                return self._masked_reference(value)
            case "link":
                return _LINKED.sub(lambda match: f"<{self._masked_reference(match[1])}>", value)
            case _:
                return value

    def _masked_reference(self, url: str) -> str:
        """Mask a URL that a service sent, which may be invalid."""
        start, mark, fragment = url.partition("#")
        try:
            return f"{self._masked_url(start)}{mark}{self._masked_query(fragment)}"
        except ValueError:
            return masked_text(url)

    def _masked_url(self, url: str) -> str:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        query = self._masked_query(parts.query)
        return self._without_secrets(urlunsplit((parts.scheme, host, parts.path, query, "")))

    def _masked_query(self, query: str) -> str:
        pairs = parse_qsl(query, keep_blank_values=True)
        secret = {name for name, _ in pairs if is_secret_name(name) or name.lower() in _SECRET_QUERIES}
        for name, value in pairs:
            if name in secret and len(value) >= _MIN_SECRET:
                self._seen.add(value)
        if not secret:
            return query
        return urlencode([(name, MASK if name in secret else value) for name, value in pairs], safe="*")

    def _without_secrets(self, text: str) -> str:
        for secret in sorted(self._seen, key=len, reverse=True):
            text = text.replace(secret, MASK)
        return text


@contextmanager
def recorded_http(
    running: RunningHost, file: Path, *, recording: bool | None = None, secrets: Sequence[str] = ()
) -> Iterator[RecordedHttp]:
    """Answer all requests of plugins on a running host from a file, until the block ends.

    Args:
        running: the host.
        file: the recording. Keep it in the repository, next to the tests.
        recording: whether to use the real services and write the file. By default, this depends on whether the
            environment variable `PRESSROOM_TEST_RECORD` is 1. Nothing is written if the block raises an exception.
        secrets: texts that must not be in the file, such as a token of yours in a path.

    Raises:
        UnrecordedRequest: at the end of the block, if a request was not recorded. It is raised again here because a
            plugin may have handled the error like a failure of the service.
        ValueError: the file is not a recording.
    """
    provider = running.host.compiled.plugins.provider
    on = os.environ.get(RECORD_VARIABLE) == "1" if recording is None else recording
    recorded = RecordedHttp(file, provider.services.fetcher, on, secrets)
    with provider.replaced(fetcher=recorded):
        yield recorded
    if on:
        recorded.write()
    elif recorded.unknown:
        raise UnrecordedRequest(recorded.explanation())


def _key(request: Mapping[str, Any]) -> tuple[Any, ...]:
    return request["method"], request["url"], request.get("text"), request.get("base64")


def _bytes_of(response: Mapping[str, Any]) -> bytes:
    return base64.b64decode(response["base64"]) if "base64" in response else str(response["text"]).encode()
