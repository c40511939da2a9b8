"""The contract of every cache index, in memory and in Redis."""

from __future__ import annotations

import pytest
from pressroom.testing.contracts import CacheIndexContract
from pressroom.testing.contracts.cache_index import MakeCacheIndex


class TestCacheIndex(CacheIndexContract):
    """In memory and in Redis."""

    @pytest.fixture(params=["memory", "redis"])
    def make_cache_index(self, request: pytest.FixtureRequest) -> MakeCacheIndex:
        make: MakeCacheIndex = request.getfixturevalue(f"make_{request.param}_index")
        return make
