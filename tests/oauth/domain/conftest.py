"""An authorisation server without HTTP, on each database."""

from typing import Any

import pytest
from pressroom.config import Settings
from pressroom.storage.database import SqlDatabase
from support.oauth_world import SECRET, MakeWorld, MovingClock, World, world_on


@pytest.fixture
def make_world(database_settings: Settings, database: SqlDatabase) -> MakeWorld:
    """Return a function that makes a server on the test's database; all servers share one clock."""
    clock = MovingClock()

    def make(secret: bytes = SECRET, **oauth: Any) -> World:
        return world_on(database, database_settings, clock, secret, **oauth)

    return make


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    """Return a server with the default settings."""
    return make_world()
