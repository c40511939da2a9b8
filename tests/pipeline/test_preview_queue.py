"""The preview queue: who may draw, who waits, and who is refused."""

from __future__ import annotations

import asyncio

import pytest
from pressroom.errors import Overloaded
from pressroom.pipeline.previews import MAX_PER_IP, SERVER, Client, PreviewQueue

ADA: Client = ("192.0.2.1", "a")
BOB: Client = ("192.0.2.2", "b")
SAMPLE: Client = (SERVER, "1")


async def entering(queue: PreviewQueue, client: Client) -> asyncio.Task[None]:
    """Return a task in which a client has entered the queue; it waits if no place is free."""
    task = asyncio.create_task(queue.enter(client))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return task


@pytest.mark.asyncio
async def test_a_newer_preview_replaces_an_older_one_in_the_queue() -> None:
    queue = PreviewQueue(1)
    await queue.enter(BOB)
    older, newer = await entering(queue, ADA), await entering(queue, ADA)
    with pytest.raises(Overloaded, match="newer"):
        await older
    assert not newer.done()
    queue.leave(BOB)
    await newer


@pytest.mark.asyncio
async def test_a_client_runs_one_preview_at_a_time() -> None:
    queue = PreviewQueue(4)
    await queue.enter(ADA)
    second, other = await entering(queue, ADA), await entering(queue, BOB)
    assert other.done()
    assert not second.done()
    queue.leave(ADA)
    await second


@pytest.mark.asyncio
async def test_user_previews_come_before_the_servers_own_samples() -> None:
    queue = PreviewQueue(1)
    await queue.enter(BOB)
    sample, ada = await entering(queue, SAMPLE), await entering(queue, ADA)
    queue.leave(BOB)
    await ada
    assert not sample.done()
    queue.leave(ADA)
    await sample


@pytest.mark.asyncio
async def test_the_number_of_pages_per_ip_address_is_limited() -> None:
    queue = PreviewQueue(1)
    tasks = [await entering(queue, (ADA[0], str(number))) for number in range(MAX_PER_IP)]
    with pytest.raises(Overloaded, match="too many"):
        await queue.enter((ADA[0], "one more"))
    for task in tasks[1:]:
        task.cancel()
    await asyncio.gather(*tasks[1:], return_exceptions=True)
    bob = await entering(queue, BOB)
    queue.leave((ADA[0], "0"))
    await bob


@pytest.mark.asyncio
async def test_a_client_that_leaves_the_queue_frees_its_slot() -> None:
    queue = PreviewQueue(1)
    await queue.enter(BOB)
    ada = await entering(queue, ADA)
    ada.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ada
    queue.leave(BOB)
    await queue.enter(ADA)
