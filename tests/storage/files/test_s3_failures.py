"""Buckets that are misconfigured, missing, unresponsive or forbidden: clear errors within the configured time."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from pressroom.errors import BackendError, FileMissing, Unavailable
from pressroom.storage.files.s3 import S3FileStore
from support.needs import free_port
from support.proxy import proxy_to
from support.s3 import S3Server, frozen_server, rclone_server
from support.stores import opened
from support.tcp_server import serving

KEY = "qr-code-generator/0123456789abcdef.png"


def calls(store: S3FileStore, key: str = KEY) -> list[Callable[[], Coroutine[Any, Any, object]]]:
    return [
        lambda: store.write(key, b"x" * 100_000, media_type="image/png"),
        lambda: store.read(key),
        lambda: store.stat(key),
        lambda: store.has(key),
        lambda: store.delete(key),
    ]


async def refusal(call: Callable[[], Coroutine[Any, Any, object]]) -> BackendError:
    with pytest.raises(BackendError) as raised:
        async with asyncio.timeout(30):
            await call()
    assert not isinstance(raised.value, FileMissing)
    return raised.value


async def test_a_wrong_secret_is_reported(server: S3Server) -> None:
    error = await refusal(S3FileStore("s3://files", server.settings(secret_access_key="not-the-one")).open)
    assert f"s3://files at {server.endpoint}" in error.message
    assert "secret key does not belong to the access key id" in error.message
    assert "secret_access_key" in error.hint
    assert "not-the-one" not in f"{error.message}{error.hint}{error.__cause__}"


async def test_an_unknown_key_is_reported(rclone: S3Server) -> None:
    error = await refusal(S3FileStore("s3://files", rclone.settings(access_key_id="nobody")).open)
    assert "does not know the access key id" in error.message
    assert "access_key_id" in error.hint


async def test_a_missing_bucket_is_reported(server: S3Server) -> None:
    error = await refusal(S3FileStore("s3://no-such-bucket/prefix", server.settings()).open)
    assert "s3://no-such-bucket/prefix" in error.message
    assert "the bucket does not exist" in error.message
    assert "Create the bucket" in error.hint


async def test_a_key_without_permissions_is_reported(swift: S3Server) -> None:
    guest = swift.settings(access_key_id="test:guest", secret_access_key="guesting")
    error = await refusal(S3FileStore("s3://files", guest).open)
    assert "the key may not do this" in error.message
    assert "s3:PutObject" in error.hint


async def test_missing_credentials_are_reported(
    rclone: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    settings = rclone.settings(access_key_id=None, secret_access_key=None)
    error = await refusal(S3FileStore("s3://files", settings).open)
    assert "there are no credentials" in error.message


async def test_credentials_may_come_from_the_environment(rclone: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", rclone.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", rclone.secret_access_key)
    settings = rclone.settings(access_key_id=None, secret_access_key=None)
    async with opened(S3FileStore("s3://files", settings)) as store:
        assert not await store.has("qr-code-generator/from-the-environment.png")


async def test_an_unreachable_service_is_reported() -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"
    server = S3Server("none", endpoint, "key", "secret")
    error = await refusal(S3FileStore("s3://files", server.settings(timeout=10)).open)
    assert f"s3://files at {endpoint}" in error.message
    assert "cannot be reached" in error.message
    assert "endpoint_url" in error.hint


async def test_a_service_that_accepts_and_never_responds_is_reported() -> None:
    with frozen_server() as endpoint:
        server = S3Server("frozen", endpoint, "key", "secret")
        error = await refusal(S3FileStore("s3://files", server.settings(timeout=0.5)).open)
    assert "did not respond in time" in error.message
    assert "timeout" in error.hint


@pytest.mark.parametrize(
    "response",
    [b"", b"+PONG\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>"],
    ids=["hangs up", "speaks another protocol", "is a website"],
)
async def test_a_service_other_than_s3_is_reported(response: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65_536) and response:
            writer.write(response)
            await writer.drain()

    async with serving(serve) as port:
        endpoint = f"http://127.0.0.1:{port}"
        settings = S3Server("other", endpoint, "key", "secret").settings(timeout=10)
        error = await refusal(S3FileStore("s3://files", settings).open)
    assert endpoint in error.message
    assert "[storage.s3]" in error.hint


async def test_calls_to_a_silent_service_end_in_time_and_work_once_it_is_back(
    server: S3Server,
) -> None:
    async with proxy_to(server.endpoint) as proxy:
        settings = server.settings(endpoint_url=proxy.endpoint, timeout=10)
        async with opened(S3FileStore(f"s3://files/{secrets.token_hex(8)}", settings)) as store:
            await store.write("qr-code-generator/seen.png", b"png", media_type="image/png")
            proxy.freeze()
            errors = await asyncio.gather(*(refusal(call) for call in calls(store)))
            assert all("did not respond in time" in error.message for error in errors)
            assert await store.has("qr-code-generator/seen.png")
            proxy.thaw()
            # Another file, since the delayed request may reach the service only at this point.
            await written_again(store, "qr-code-generator/next.png")
            assert await store.read("qr-code-generator/next.png") == b"png"


async def written_again(store: S3FileStore, key: str) -> None:
    """Write a file, retrying until the service is used again after an outage."""
    async with asyncio.timeout(60):
        while True:
            try:
                await store.write(key, b"png", media_type="image/png")
            except Unavailable:
                await asyncio.sleep(0.05)
            else:
                return


async def test_only_one_call_at_a_time_waits_for_a_silent_service(rclone: S3Server) -> None:
    async with proxy_to(rclone.endpoint) as proxy:
        settings = rclone.settings(endpoint_url=proxy.endpoint, timeout=3)
        async with opened(S3FileStore("s3://files", settings)) as store:
            proxy.freeze()
            first = await refusal(lambda: store.read(KEY))
            other_errors = await asyncio.gather(*(refusal(lambda: store.read(KEY)) for _ in range(40)))
            proxy.thaw()
            await written_again(store, KEY)
            assert await store.read(KEY) == b"png"
    assert isinstance(first, Unavailable)
    assert "was read: it did not respond in time" in first.message
    assert {type(error) for error in other_errors} == {Unavailable}
    assert sum("is unavailable: no response within 3 s" in error.message for error in other_errors) >= 39


async def test_an_error_response_is_not_an_outage(rclone: S3Server) -> None:
    async with opened(S3FileStore(f"s3://files/{secrets.token_hex(8)}", rclone.settings())) as store:
        for _ in range(3):
            with pytest.raises(FileMissing):
                await store.read(KEY)
        await store.write(KEY, b"png", media_type="image/png")
        assert await store.read(KEY) == b"png"


async def test_a_service_that_goes_down_is_an_outage_and_its_files_are_not_missing(tmp_path: Path) -> None:
    async with AsyncExitStack() as closing:
        with rclone_server(tmp_path) as server:
            await server.make_bucket("files")
            store = S3FileStore("s3://files", server.settings(timeout=10))
            await closing.enter_async_context(opened(store))
            await store.write(KEY, b"png", media_type="image/png")
        errors = await asyncio.gather(*(refusal(call) for call in calls(store, "qr-code-generator/other.png")))
        assert all("cannot be reached" in error.message for error in errors)


async def test_a_bucket_that_is_removed_is_an_outage(swift: S3Server) -> None:
    bucket = f"removed-{secrets.token_hex(4)}"
    await swift.make_bucket(bucket)
    async with opened(S3FileStore(f"s3://{bucket}", swift.settings())) as store:
        await swift.remove_bucket(bucket)
        error = await refusal(lambda: store.write(KEY, b"png", media_type="image/png"))
        assert "the bucket does not exist" in error.message
        error = await refusal(lambda: store.read(KEY))
        assert "the bucket does not exist" in error.message


async def test_opening_leaves_nothing_in_the_bucket(swift: S3Server) -> None:
    bucket = f"empty-{secrets.token_hex(4)}"
    await swift.make_bucket(bucket)
    async with opened(S3FileStore(f"s3://{bucket}/prefix", swift.settings())):
        pass
    await swift.remove_bucket(bucket)  # fails unless the bucket is empty
