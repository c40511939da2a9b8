"""The content plugin with its database, queue and fetcher, but without the rest of a host: fast to start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

from pressroom.accounts.quotas import AccountStorage
from pressroom.accounts.service import AccountServices
from pressroom.config import Settings
from pressroom.fetch import GuardedFetcher
from pressroom.host.loaded_app import LoadedApp
from pressroom.jobs.queue import JobQueue
from pressroom.pipeline.chain import InternalCalls
from pressroom.sdk import HostServices, Job, PluginContext
from pressroom.storage.database import SqlDatabase
from pressroom.testing.databases import make_database
from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.engine import Engine
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.store import lock_of
from pressroom_content.records import Publication
from pressroom_content.tables import PublicationRow
from pressroom_content.websites.store import Websites

from support.standin_plugin import PHOTO, PLATFORM

T = TypeVar("T")

ADA = "u_ada"
QUICK = {"settle_seconds": 0.5}

BODY = f"""Some words about **publishing**, and [a link](https://example.com/).

![A photo](https://library.example/{PHOTO}.png)

- one
- two
"""


def configuration(storage: dict[str, Any], **content: Any) -> dict[str, Any]:
    """Return the configuration as read from the TOML file."""
    return {
        "plugins": {"content": {"config": {**QUICK, **content}}, "standin": {}},
        "storage": {name: str(value) for name, value in storage.items()},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
        "jobs": {"poll_interval": 1},
    }


class HereWorkers:
    """Runs functions immediately in this process, because worker processes take longer to start than a test."""

    async def run(self, function: Callable[..., T], *arguments: Any, **_bounds: Any) -> T:
        """Return the function's result."""
        return function(*arguments)


@asynccontextmanager
async def world(settings: Settings, *, works: bool = True) -> AsyncIterator[PluginContext]:
    """Yield the content plugin's context. With `works`, this process runs jobs."""
    async with services(LoadedApp(settings), works=works) as contexts:
        yield contexts["content"]


@asynccontextmanager
async def services(compiled: LoadedApp, *, works: bool) -> AsyncIterator[Mapping[str, PluginContext]]:
    """Yield the plugins' contexts, with database, queue and fetcher. With `works`, this process runs jobs."""
    settings = compiled.settings
    broken = [f"{record.id}: {record.error}" for record in compiled.plugins.failed if record.id in settings.plugins]
    assert not broken, broken
    await make_database(settings, compiled.models())
    database = SqlDatabase(settings)
    await database.open()
    try:
        await compiled.migrator(database).migrate()
        kinds = [contribution.record for contribution in compiled.plugins.contributions.of(Job)]
        jobs = settings.jobs if works else settings.jobs.model_copy(update={"concurrency": 0})
        queue = JobQueue(database, kinds, jobs, backoff=0.1)
        async with GuardedFetcher(private_networks=settings.fetch.private_networks) as fetcher:
            storage = AccountStorage(settings, database)
            storage.know_kinds(compiled.storage_kinds)
            compiled.plugins.provider.fill(
                HostServices(
                    database=database,
                    accounts=AccountServices(settings, database),
                    jobs=queue,
                    storage=storage,
                    fetcher=fetcher,
                    tools=InternalCalls(),
                    workers=HereWorkers(),
                )
            )
            await queue.open()
            try:
                yield compiled.plugins.contexts
            finally:
                await queue.close(5)
    finally:
        await database.close()


async def connect(
    plugin: PluginContext, url: str, token: str, *, name: str = "Stand-in", platform: str = PLATFORM, **fields: str
) -> str:
    """Store a website on the stand-in platform without checking it, and return its id."""
    website = await Websites(plugin).add(
        ADA, platform, name=name, url=url, credential={"token": token, **fields}, finding=None
    )
    return website.id


async def write(plugin: PluginContext, **fields: Any) -> str:
    """Write an article, and return its id."""
    values = {
        "title": "Hello world",
        "body": BODY,
        "tags": ("news", "tools"),
        "categories": ("Engineering",),
        "excerpt": "In a few words.",
        "meta_title": "Hello",
        "featured_media_id": PHOTO,
        "meta_description": "Everything about hello.",
    }
    created = await Articles(plugin).create(ADA, Draft(**{**values, **fields}))
    return created.article.id


async def recheck(plugin: PluginContext, publication: Publication) -> Publication:
    """Run the publication's due job now, and return the publication."""
    async with plugin.services.database.writing() as session:
        row = await session.get_one(PublicationRow, publication.id)
        row.due_at = datetime.now(UTC)
    async with plugin.services.jobs.lock(lock_of(publication.id), wait=60, lease=60) as lease:
        await Engine(plugin).run(publication.id, lease)
    return await Publications(plugin).get(ADA, publication.id)


async def publish(plugin: PluginContext, article: str, website: str, **options: Any) -> Publication:
    """Publish an article, and return the publication after at most 20 seconds."""
    publications = Publications(plugin)
    return await publications.wait(await publications.publish(ADA, article, website, **options), 20)


async def ended(plugin: PluginContext, publication: Publication) -> Publication:
    """Return the publication once it is no longer retried automatically."""
    current = publication
    for _ in range(400):
        current = await Publications(plugin).wait(publication, 0.1)
        if current.status not in ("queued", "publishing", "unknown"):
            return current
        await asyncio.sleep(0.05)
    raise AssertionError(current)
