from collections.abc import AsyncIterator

import pytest
from pressroom.config.models import ExecutorsSettings
from pressroom.pipeline.executors.executors import Executors


@pytest.fixture
async def executors() -> AsyncIterator[Executors]:
    """Return executors with two slots and two queue places each."""
    settings = ExecutorsSettings(
        processes=2, process_queue=2, threads=2, thread_queue=2, coroutines=2, coroutine_queue=2, recycle_after=0
    )
    executors = Executors(settings)
    await executors.start()
    yield executors
    await executors.close(0)
