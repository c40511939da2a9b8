import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pressroom.sdk import FileStore
from pressroom.storage.files import LocalFileStore, UrlSigner
from pressroom.storage.files.s3 import S3FileStore
from support.s3 import S3Server, rclone_server, swift_server
from support.stores import opened


@pytest.fixture(scope="package", autouse=True)
def _no_cloud_metadata() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield


@pytest.fixture(scope="package")
def rclone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with rclone_server(tmp_path_factory.mktemp("rclone")) as server:
        asyncio.run(server.make_bucket("files"))
        yield server


@pytest.fixture(scope="package")
def swift(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with swift_server(tmp_path_factory.mktemp("swift")) as server:
        asyncio.run(server.make_bucket("files"))
        yield server


@pytest.fixture(params=["rclone", "swift"])
def server(request: pytest.FixtureRequest) -> S3Server:
    """Each of the S3-compatible servers, with a bucket `files`."""
    service = request.getfixturevalue(request.param)
    assert isinstance(service, S3Server)
    return service


@pytest.fixture(params=["local", "rclone", "swift"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], FileStore]:
    """Return a function that creates stores which share one initially empty location."""
    if request.param == "local":
        signer = UrlSigner(b"0123456789abcdef")
        return lambda: LocalFileStore(tmp_path / "files", signer, "https://example.org")
    server: S3Server = request.getfixturevalue(request.param)
    url = f"s3://files/{secrets.token_hex(8)}"
    return lambda: S3FileStore(url, server.settings())


@pytest.fixture
async def stores(make_store: Callable[[], FileStore]) -> AsyncIterator[tuple[FileStore, FileStore]]:
    """Two open stores with the same files, as on two hosts."""
    async with AsyncExitStack() as stack:
        one, other = [await stack.enter_async_context(opened(make_store())) for _ in range(2)]
        yield one, other


@pytest.fixture
async def store(make_store: Callable[[], FileStore]) -> AsyncIterator[FileStore]:
    """One open store."""
    async with opened(make_store()) as store:
        yield store
