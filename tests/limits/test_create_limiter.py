from __future__ import annotations

import subprocess
import sys

import pytest
from pressroom.config.models import Settings
from pressroom.errors import BackendError, ConfigError
from pressroom.limits import create_limiter
from pressroom.limits.limiter import MemoryWindows, MovingWindowLimiter
from pressroom.limits.redis import RedisWindows
from pressroom.sdk import Limiter, per_hour
from pressroom.storage.cache import create_cache_index
from pressroom.storage.redis import RedisConnection
from support.needs import free_port


def settings(backend: str = "auto", **storage: object) -> Settings:
    return Settings.model_validate({"limits": {"backend": backend, "max_keys": 1000}, "storage": storage})


@pytest.mark.parametrize(
    ("chosen", "storage"),
    [
        (settings(), MemoryWindows),
        (settings("memory"), MemoryWindows),
        (settings("memory", redis="redis://localhost"), MemoryWindows),
        (settings(redis="redis://localhost"), RedisWindows),
        (settings("redis", redis="unix:///run/redis.sock"), RedisWindows),
        (settings("redis", redis="rediss://user:password@localhost:6380/2"), RedisWindows),
    ],
)
def test_the_backend_is_what_the_operator_chose(chosen: Settings, storage: type) -> None:
    limiter = create_limiter(chosen)
    assert isinstance(limiter, Limiter)
    assert isinstance(limiter, MovingWindowLimiter)
    assert isinstance(limiter.storage, storage)


async def test_the_memory_backend_keeps_as_many_keys_as_configured() -> None:
    limiter = create_limiter(settings())
    for number in range(1001):
        await limiter.take(per_hour(5), f"client {number}", 1)
    assert (await limiter.peek(per_hour(5), "client 0")).remaining == 5
    assert (await limiter.peek(per_hour(5), "client 1")).remaining == 4


def test_an_unknown_backend_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(ConfigError, match=r"limits\.backend: there is no backend 'etcd'") as caught:
        create_limiter(settings("etcd"))
    assert all(name in caught.value.hint for name in ("auto", "memory", "redis", "plugin"))


def test_redis_without_a_server_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"limits\.backend") as caught:
        create_limiter(settings("redis"))
    assert "[storage] redis" in caught.value.hint


@pytest.mark.parametrize(
    ("create", "key"),
    [
        ("pressroom.limits.create_limiter", "limits.backend"),
        ("pressroom.storage.cache.create_cache_index", "cache.backend"),
    ],
)
def test_redis_without_a_client_is_refused(create: str, key: str) -> None:
    code = (
        "import pkgutil, sys; sys.modules['redis'] = None; from pressroom.config.models import Settings;"
        "settings = Settings.model_validate({'storage': {'redis': 'redis://localhost'}});"
        f"pkgutil.resolve_name({create!r})(settings)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert f"ConfigError: {key}: the Redis client is not installed" in ended.stderr


async def test_the_limiter_and_the_cache_index_of_one_host_share_an_outage() -> None:
    configured = settings(redis=f"redis://127.0.0.1:{free_port()}")
    limiter, cache = create_limiter(configured), create_cache_index(configured)
    with pytest.raises(BackendError):
        await limiter.take(per_hour(5), "a", 1)
    with pytest.raises(BackendError):
        cache.get("a").send(None)  # fails without waiting: the outage is known


async def test_hosts_with_settings_of_their_own_share_nothing() -> None:
    port = free_port()
    first, second = (create_cache_index(settings(redis=f"redis://127.0.0.1:{port}")) for _ in range(2))
    with pytest.raises(BackendError):
        await first.get("a")
    waiting = second.get("a")
    waiting.send(None)  # waits for the server: nothing is known of an outage
    waiting.close()


@pytest.mark.parametrize("url", ["redis://:pass/word@localhost", "redis://localhost:port", "redis://localhost?foo=bar"])
def test_an_address_that_cannot_be_read_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ConfigError, match="the URL cannot be read") as caught:
        RedisConnection(url, timeout=0.2)
    assert "pass" not in caught.value.message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_choosing_memory_imports_no_redis_client() -> None:
    code = (
        "import sys; from pressroom.config.models import Settings; from pressroom.limits import create_limiter;"
        "from pressroom.storage.cache import create_cache_index; assert 'limits' not in sys.modules;"
        "create_cache_index(Settings()); assert 'limits' not in sys.modules; assert 'redis' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
