from collections.abc import AsyncIterator

import pytest
from pressroom.config.models import LanesSettings
from pressroom.lanes.lanes import Lanes


@pytest.fixture
async def lanes() -> AsyncIterator[Lanes]:
    """Two places and two waiting places in each lane."""
    settings = LanesSettings(
        processes=2, process_queue=2, threads=2, thread_queue=2, coroutines=2, coroutine_queue=2, recycle_after=0
    )
    lanes = Lanes(settings)
    await lanes.start()
    yield lanes
    await lanes.close(0)
