"""Selection of the backends for files, cache and limits by configuration."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from pressroom.config.models import S3Settings, Settings
from pressroom.errors import BackendError, ConfigError
from pressroom.host.loaded_app import LoadedApp
from pressroom.host.stores import backend_names
from pressroom.limits import memory_limits, redis_limits
from pressroom.limits.limiter import MemoryWindows, MovingWindowLimiter
from pressroom.limits.redis import RedisWindows
from pressroom.sdk import CacheIndex, FileStore, Limiter, per_hour
from pressroom.sdk.shared import BackendKind
from pressroom.storage.cache import redis_cache
from pressroom.storage.cache.memory import MemoryCacheIndex
from pressroom.storage.cache.redis import RedisCacheIndex
from pressroom.storage.files import LocalFileStore, local_files, s3_files
from pressroom.storage.files.s3 import S3FileStore
from pressroom.storage.redis import RedisConnection
from support.needs import free_port

REDIS = "redis://localhost"


def settings(folder: Path, **sections: object) -> Settings:
    storage: Any = sections.pop("storage", {})
    return Settings.model_validate(
        {"base_url": "https://example.org/", "storage": {"path": folder, **storage}, **sections}
    )


def using_redis(url: str = REDIS) -> Settings:
    return Settings.model_validate({"storage": {"redis": url}})


@pytest.mark.parametrize(
    ("sections", "names"),
    [
        ({}, ("local", "memory", "memory")),
        ({"storage": {"redis": REDIS}}, ("local", "redis", "redis")),
        ({"storage": {"redis": "unix:///run/redis.sock", "files": "s3://bucket/prefix"}}, ("s3", "redis", "redis")),
        (
            {"storage": {"redis": REDIS}, "cache": {"backend": "memory"}, "limits": {"backend": "memory"}},
            ("local", "memory", "memory"),
        ),
        ({"cache": {"backend": "redis"}, "limits": {"backend": "etcd"}}, ("local", "redis", "etcd")),
        ({"storage": {"files": "cloud"}}, ("cloud", "memory", "memory")),
    ],
)
def test_the_operator_chooses_by_name(tmp_path: Path, sections: dict[str, object], names: tuple[str, ...]) -> None:
    backends = backend_names(settings(tmp_path, **sections))
    assert (backends["files"], backends["cache"], backends["limits"]) == names


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedApp:
    storage = {"redis": "rediss://user:password@localhost:6380/2", "files": "s3://bucket/prefix"}
    return LoadedApp(settings(tmp_path_factory.mktemp("data"), storage=storage))


@pytest.mark.parametrize(
    ("kind", "name", "protocol", "class_"),
    [
        ("files", "local", FileStore, LocalFileStore),
        ("files", "s3", FileStore, S3FileStore),
        ("cache", "memory", CacheIndex, MemoryCacheIndex),
        ("cache", "redis", CacheIndex, RedisCacheIndex),
        ("limits", "memory", Limiter, MovingWindowLimiter),
        ("limits", "redis", Limiter, MovingWindowLimiter),
    ],
)
def test_each_name_is_a_store(loaded: LoadedApp, kind: BackendKind, name: str, protocol: type, class_: type) -> None:
    backend = loaded.backend(kind, name, f"{kind}.backend")
    assert isinstance(backend, protocol)
    assert isinstance(backend, class_)
    if isinstance(backend, MovingWindowLimiter):
        assert isinstance(backend.storage, RedisWindows if name == "redis" else MemoryWindows)


@pytest.mark.parametrize(
    ("kind", "known"), [("files", "local, s3://bucket/prefix"), ("cache", "memory, redis"), ("limits", "memory, redis")]
)
def test_an_unknown_name_is_refused_with_the_known_ones(loaded: LoadedApp, kind: BackendKind, known: str) -> None:
    with pytest.raises(ConfigError, match="there is no 'elsewhere'") as caught:
        loaded.backend(kind, "elsewhere", f"{kind}.backend")
    assert known in caught.value.hint


async def test_files_are_kept_in_the_storage_folder_by_default(tmp_path: Path) -> None:
    store = local_files(settings(tmp_path))
    await store.open()
    await store.write("qr/0123.png", b"png", media_type="image/png")
    await store.close()
    assert (tmp_path / "files" / "qr" / "0123.png").read_bytes() == b"png"
    assert (tmp_path / "secret.key").exists()


def test_a_store_in_a_bucket_does_not_use_the_storage_folder(tmp_path: Path) -> None:
    s3_files(settings(tmp_path, storage={"files": "s3://bucket/prefix"}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "s3://",
        "s3:///x",
        "s3://B",
        "s3://b/../c",
        "s3://bucket//x",
        "s3://bucket/x?region=eu",
        "s3://k:s@bucket/x",
        "s3://bucket/.x",
    ],
)
def test_a_url_without_a_bucket_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"\[storage\] files"):
        S3FileStore(url, S3Settings())


@pytest.mark.parametrize("half", ["access_key_id", "secret_access_key"])
def test_incomplete_credentials_are_refused(tmp_path: Path, half: str) -> None:
    with pytest.raises(ConfigError, match="one is set, the other is not") as raised:
        s3_files(settings(tmp_path, storage={"files": "s3://bucket", "s3": {half: "hidden"}}))
    assert "hidden" not in raised.value.message


def test_a_missing_s3_library_is_named() -> None:
    script = """
        import sys
        sys.modules["s3fs"] = None
        from pressroom.config.models import Settings
        from pressroom.errors import ConfigError
        from pressroom.storage.files import s3_files
        try:
            s3_files(Settings.model_validate({"storage": {"files": "s3://bucket"}}))
        except ConfigError as error:
            print(error.message, error.hint)
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert "s3://bucket, but the package s3fs is not installed" in result.stdout
    assert "pressroom[s3]" in result.stdout


def test_the_local_store_does_not_load_the_s3_libraries() -> None:
    script = "import sys, pressroom.storage.files; print(sorted({'s3fs', 'botocore', 'aiohttp'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


async def test_the_limiter_in_memory_keeps_as_many_keys_as_configured(tmp_path: Path) -> None:
    limiter = memory_limits(settings(tmp_path, limits={"max_keys": 1000}))
    for number in range(1001):
        await limiter.take(per_hour(5), f"client {number}", 1)
    assert (await limiter.peek(per_hour(5), "client 0")).remaining == 5
    assert (await limiter.peek(per_hour(5), "client 1")).remaining == 4


def test_redis_without_a_server_is_refused(tmp_path: Path) -> None:
    for make, key in ((redis_limits, "limits.backend"), (redis_cache, "cache.backend")):
        with pytest.raises(ConfigError, match=key.replace(".", r"\.")) as caught:
            make(settings(tmp_path))
        assert "[storage] redis" in caught.value.hint


@pytest.mark.parametrize(
    ("make", "key"),
    [
        ("pressroom.limits.redis_limits", "limits.backend"),
        ("pressroom.storage.cache.redis_cache", "cache.backend"),
    ],
)
def test_redis_without_a_client_is_refused(make: str, key: str) -> None:
    code = (
        "import pkgutil, sys; sys.modules['redis'] = None; from pressroom.config.models import Settings;"
        "settings = Settings.model_validate({'storage': {'redis': 'redis://localhost'}});"
        f"pkgutil.resolve_name({make!r})(settings)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert f"ConfigError: {key}: the Redis client is not installed" in result.stderr


def test_memory_loads_no_redis_client() -> None:
    code = (
        "import sys; from pressroom.config.models import Settings; from pressroom.limits import memory_limits;"
        "from pressroom.storage.cache import memory_cache; assert 'limits' not in sys.modules;"
        "memory_cache(Settings()); assert 'limits' not in sys.modules;"
        "memory_limits(Settings()); assert 'redis' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_the_limiter_and_the_cache_index_of_one_host_share_an_outage() -> None:
    configured = using_redis(f"redis://127.0.0.1:{free_port()}")
    limiter, cache = redis_limits(configured), redis_cache(configured)
    with pytest.raises(BackendError):
        await limiter.take(per_hour(5), "a", 1)
    with pytest.raises(BackendError):
        cache.get("a").send(None)  # fails without waiting: the outage is known


async def test_hosts_with_their_own_settings_share_nothing() -> None:
    port = free_port()
    first, second = (redis_cache(using_redis(f"redis://127.0.0.1:{port}")) for _ in range(2))
    with pytest.raises(BackendError):
        await first.get("a")
    waiting = second.get("a")
    waiting.send(None)  # waits for the server: the outage is not known yet
    waiting.close()


@pytest.mark.parametrize("url", ["redis://:pass/word@localhost", "redis://localhost:port", "redis://localhost?foo=bar"])
def test_an_invalid_redis_url_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ConfigError, match="the URL cannot be read") as caught:
        RedisConnection(url, timeout=0.2)
    assert "pass" not in caught.value.message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
