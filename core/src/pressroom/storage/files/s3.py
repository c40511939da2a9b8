"""Files in a bucket of an S3-compatible service, through s3fs.

Importing this module imports s3fs, which takes most of a second: import it only if a bucket is configured.
"""
# ruff: noqa: SLF001 - the coroutines of an asynchronous fsspec file system carry an underscore

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import s3fs

from pressroom.config.models import S3Settings
from pressroom.errors import BackendError, ConfigError, FileMissing, Unavailable
from pressroom.sdk.backends import PruneResult, StoredFile
from pressroom.storage.files.local import RecentKeys
from pressroom.storage.files.s3_errors import FAILURES, PERMISSIONS_HINT, explain, is_unreachable, service_code
from pressroom.storage.files.signing import MediaTypes, check_key, content_disposition
from pressroom.storage.outage import OutageGuard

T = TypeVar("T")

SEEN_SECONDS: Final = 60
"""How long `has` assumes that a file it has seen still exists, in seconds."""

_MAX_RECENT_KEYS: Final = 50_000
_CONNECTIONS: Final = 64
_MAX_URL_SECONDS: Final = 604_800
_URL = re.compile(r"s3://([a-z0-9][a-z0-9._-]{1,253})((?:/[A-Za-z0-9_=+~-][A-Za-z0-9._=+~-]*)*)/?", re.ASCII)


class S3FileStore:
    """Stores files in a bucket as `<prefix>/<tool>/<id>.<extension>`, with URLs that point to the bucket.

    Every call is limited to the configured `timeout`. While the service is down, one call per second tries it
    and the others fail at once. Old files are removed by a lifecycle rule of the bucket.

    `url` is `s3://bucket` or `s3://bucket/prefix`.

    Raises:
        ConfigError: `url` does not have that form, or only one of the two credentials is set.
    """

    def __init__(self, url: str, settings: S3Settings) -> None:
        match = _URL.fullmatch(url)
        if match is None:
            raise ConfigError(
                f"[storage] files: {url!r} is not s3://bucket or s3://bucket/prefix",
                hint="Endpoint, region and keys belong in [storage.s3].",
            )
        if (settings.access_key_id is None) != (settings.secret_access_key is None):
            raise ConfigError(
                "[storage.s3] access_key_id and secret_access_key: one is set, the other is not",
                hint="Set both, or neither to use the environment's credentials.",
            )
        self._name = f"{url} at {settings.endpoint_url or 'AWS'}"
        self._bucket = match[1]
        self._prefix = f"{match[2].lstrip('/')}/" if match[2] else ""
        self.media_types = MediaTypes()
        self._settings = settings
        self._files: Any = None
        self._signing: Any = None
        self._seen = RecentKeys(SEEN_SECONDS, _MAX_RECENT_KEYS)
        self._outages = OutageGuard(
            f"the file store {self._name}",
            probe=_no_probe,
            timeout=settings.timeout,
            concurrency=_CONNECTIONS,
            refused=(),
            unreachable=(_Unreachable,),
        )
        self._existence_checks: dict[str, asyncio.Task[bool]] = {}

    async def open(self) -> None:
        """Connect, and check that files can be written, read and removed.

        Raises:
            BackendError: they cannot. The message states whether keys, bucket, permissions or network are at fault.
        """
        settings = self._settings
        try:
            async with self._bounded("it was opened"):
                self._files = await self._connect(settings.endpoint_url)
                public = settings.public_endpoint_url
                # The host is part of the signature, so signed URLs need a separate client.
                separate = public is not None and public != settings.endpoint_url
                self._signing = await self._connect(public, self._files.session) if separate else self._files
                await self._probe()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the connections."""
        checks = list(self._existence_checks.values())
        for check in checks:
            check.cancel()
        await asyncio.gather(*checks, return_exceptions=True)
        connected = {id(files): files for files in (self._files, self._signing) if files is not None}
        self._files = self._signing = None
        for files in connected.values():
            await files._s3.close()

    async def write(self, key: str, content: bytes, *, media_type: str) -> None:
        """Store a complete file or none, replacing one with the same key.

        Raises:
            BackendError: the service failed or did not respond in time.
            ValueError: `key` is not a key, or its extension does not match `media_type`.
        """
        self.media_types.check(check_key(key), media_type)
        await self._call(f"{key} was written", lambda: self._put(key, content))
        self._seen.add(key)

    async def read(self, key: str) -> bytes:
        """Return a file's bytes.

        Raises:
            FileMissing: the file does not exist.
            BackendError: the service failed or did not respond in time.
        """
        check_key(key)
        content: bytes = await self._call(f"{key} was read", lambda: self._files._cat_file(self._path(key)), key=key)
        self._seen.add(key)
        return content

    async def stat(self, key: str) -> StoredFile:
        """Return a file's metadata.

        Raises:
            FileMissing: the file does not exist.
            BackendError: the service failed or did not respond in time.
        """
        check_key(key)
        head = await self._call(f"{key} was looked for", lambda: self._head(key), key=key)
        self._seen.add(key)
        modified: datetime = head["LastModified"]
        return StoredFile(key, head["ContentLength"], head["ContentType"], modified.astimezone(UTC))

    async def has(self, key: str) -> bool:
        """Return whether the file exists, or was seen within the last minute.

        Raises:
            BackendError: the service failed or did not respond in time.
        """
        if check_key(key) in self._seen:
            return True
        check = self._existence_checks.get(key)
        if check is None:
            check = self._existence_checks[key] = asyncio.create_task(self._look(key))
            check.add_done_callback(lambda done: self._looked(key, done))
        # Other callers may wait for the same request, which must not be cancelled when one of them leaves.
        return await asyncio.shield(check)

    async def url(self, key: str, *, expires: datetime) -> str:
        """Return a presigned URL of the bucket (Signature Version 4), valid until `expires` (UTC, whole seconds).

        With temporary credentials it expires together with them, if that is sooner.

        Raises:
            BackendError: the credentials cannot be renewed.
            ValueError: `expires` is past, or more than the seven days ahead that S3 allows.
        """
        seconds = int(expires.timestamp()) - int(time.time())
        if not 0 < seconds <= _MAX_URL_SECONDS:
            raise ValueError(f"expires must be 1 to {_MAX_URL_SECONDS} seconds ahead (got {seconds})")
        media_type = self.media_types.of(key)
        async with self._bounded(f"a URL of {key} was signed"):
            url: str = await self._signing._url(
                self._path(check_key(key)),
                expires=seconds,
                ResponseContentType=media_type,
                ResponseContentDisposition=content_disposition(key, media_type),
            )
        return url

    async def delete(self, key: str) -> None:
        """Remove a file; a missing one is not an error.

        Raises:
            BackendError: the service failed or did not respond in time.
        """
        self._seen.discard(check_key(key))
        await self._call(f"{key} was removed", lambda: self._files._rm_file(self._path(key)))

    async def prune(self, *, older_than: datetime, max_bytes: int) -> PruneResult:
        """Do nothing: listing a bucket costs time and money, and a lifecycle rule of the bucket does it better."""
        return PruneResult(0, 0, 0, 0)

    def _path(self, key: str) -> str:
        return f"{self._bucket}/{self._prefix}{key}"

    async def _connect(self, endpoint: str | None, session: Any = None) -> Any:
        settings = self._settings
        key, secret = settings.access_key_id, settings.secret_access_key
        files = s3fs.S3FileSystem(
            asynchronous=True,
            skip_instance_cache=True,
            use_listings_cache=False,
            max_concurrency=1,  # otherwise each read begins with a request for the size
            session=session,
            endpoint_url=endpoint,
            key=key.get_secret_value() if key else None,
            secret=secret.get_secret_value() if secret else None,
            client_kwargs={"region_name": settings.region},
            config_kwargs={
                "signature_version": "s3v4",
                "s3": {"addressing_style": settings.addressing_style},
                "connect_timeout": settings.timeout,
                "read_timeout": settings.timeout,
                "max_pool_connections": _CONNECTIONS,
                "retries": {"mode": "standard", "total_max_attempts": 3},
                # Many services other than AWS do not support the newer checksums.
                "request_checksum_calculation": "when_required",
                "response_checksum_validation": "when_required",
            },
        )
        files.retries = 2  # for a response body that breaks off; botocore already retries everything else
        try:
            await files.set_session()
        except ValueError as error:
            raise BackendError(
                f"the file store {self._name} cannot be used: {error}", hint="Correct the [storage.s3] settings."
            ) from error
        return files

    async def _probe(self) -> None:
        # Random names, because several servers may start at once.
        key, absent = (f"probe/{secrets.token_hex(16)}.txt" for _ in range(2))
        content = secrets.token_bytes(16)
        await self._put(key, content)
        is_stored = await self._files._cat_file(self._path(key)) == content
        await self._files._rm_file(self._path(key))
        try:
            await self._head(absent)
        except FileNotFoundError:
            if is_stored:
                return
        except PermissionError as error:
            raise BackendError(
                f"the file store {self._name} does not tell a missing file from a forbidden one: "
                "the key may not list the bucket",
                hint=PERMISSIONS_HINT,
            ) from error
        raise BackendError(
            f"the file store {self._name} does not give back what it was given; it is not an S3-compatible service",
            hint="Check [storage.s3] endpoint_url.",
        )

    async def _put(self, key: str, content: bytes) -> None:
        media_type = self.media_types.of(key)
        await self._files._pipe_file(
            self._path(key), content, ContentType=media_type, ContentDisposition=content_disposition(key, media_type)
        )

    async def _head(self, key: str) -> dict[str, Any]:
        # Not `_info`, which would also look for a folder of that name.
        head: dict[str, Any] = await self._files._call_s3(
            "head_object", Bucket=self._bucket, Key=f"{self._prefix}{key}"
        )
        return head

    async def _look(self, key: str) -> bool:
        try:
            await self.stat(key)
        except FileMissing:
            return False
        return True

    def _looked(self, key: str, check: asyncio.Task[bool]) -> None:
        del self._existence_checks[key]
        if not check.cancelled():
            check.exception()  # marks it as retrieved, in case every caller has left

    async def _call(self, action: str, operation: Callable[[], Awaitable[T]], *, key: str = "") -> T:
        """Return the result of an operation, with the configured timeout, failing at once while the service is down.

        `key` is the file that `FileMissing` reports if it does not exist.
        """

        async def attempt() -> T | _Refusal:
            try:
                return await operation()
            except FAILURES as error:
                if is_unreachable(error):
                    raise _Unreachable(explain(error)[0]) from error
                return _Refusal(error)

        try:
            result = await self._outages.call("a call", attempt)
        except Unavailable as error:
            cause = error.__cause__
            if not isinstance(cause, Exception):
                raise  # the service was not asked
            reason = cause.__cause__ if isinstance(cause, _Unreachable) else cause
            raise self._failed(action, reason if isinstance(reason, Exception) else cause) from cause
        if isinstance(result, _Refusal):
            raise self._explained(result.error, action, key) from result.error
        return result

    @asynccontextmanager
    async def _bounded(self, action: str) -> AsyncIterator[None]:
        """Limit the time of the block, and raise its failures as `BackendError`."""
        try:
            async with asyncio.timeout(self._settings.timeout):
                yield
        except FAILURES as error:
            raise self._failed(action, error) from error

    def _explained(self, error: Exception, action: str, key: str) -> BackendError:
        if key and isinstance(error, FileNotFoundError) and service_code(error) != "NoSuchBucket":
            self._seen.discard(key)
            return FileMissing(f"there is no file {key}")
        return self._failed(action, error)

    def _failed(self, action: str, error: Exception) -> BackendError:
        problem, hint = explain(error)
        kind = Unavailable if is_unreachable(error) else BackendError
        return kind(f"the file store {self._name} failed when {action}: {problem}", hint=hint)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """An error response of the service."""

    error: Exception


class _Unreachable(Exception):
    """The service did not respond; the message has the reason."""


async def _no_probe() -> None:
    """Do nothing: every call is safe to repeat."""
