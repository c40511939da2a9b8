"""All account services of a server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import select

from pressroom.accounts.activity import ActivityLog
from pressroom.accounts.api_keys import ApiKeys
from pressroom.accounts.client_requests import ClientRequests
from pressroom.accounts.connections import Connections, connection_count
from pressroom.accounts.credential_cache import CredentialCache
from pressroom.accounts.memberships import Invitations, Memberships
from pressroom.accounts.periodic import PeriodicTask
from pressroom.accounts.quotas import AccountStorage, Quotas, next_month
from pressroom.accounts.records import PlanSummary
from pressroom.accounts.sessions import Sessions, SetupLinks
from pressroom.accounts.users import Users
from pressroom.columns import as_id
from pressroom.config.models import Settings
from pressroom.errors import NotFound
from pressroom.sdk import AccountUsage, Activity, QuotaUse
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import UserRow

PRUNE_SECONDS: Final = 3600
"""Interval in seconds for deleting expired sessions, invitations and stored client requests."""


class AccountServices:
    """Implements `pressroom.sdk.Accounts`, and bundles the services that the host's own interfaces use.

    `open` starts the background tasks (batched writes, deleting expired rows); `close` writes what is pending.
    `credentials` is this process's cache of API keys and access tokens.
    """

    def __init__(self, settings: Settings, database: SqlDatabase) -> None:
        self._database = database
        self.credentials = CredentialCache(settings.auth.cache)
        self.users = Users(database, settings, self.credentials)
        self.sessions = Sessions(database, settings.accounts)
        self.setup_links = SetupLinks(database, self.users)
        self.memberships = Memberships(database)
        self.invitations = Invitations(database, self.users)
        self.connections = Connections(database, settings, self.credentials)
        self.api_keys = ApiKeys(database, settings, self.connections, self.credentials)
        self.quotas = Quotas(database)
        self.client_requests = ClientRequests(settings, database)
        self.stored = AccountStorage(settings, database)
        self.activity_log = ActivityLog(database, settings.accounts)
        self._pruner = PeriodicTask(
            "removing what has expired", PRUNE_SECONDS, self._prune, end_after=PRUNE_SECONDS / 6
        )
        self._plan: Callable[[str], PlanSummary] | None = None

    async def open(self) -> None:
        """Start the batched writers and the periodic deletion of expired rows."""
        await self.connections.open()
        await self.activity_log.open()
        self._pruner.start()

    async def close(self) -> None:
        """Stop the background tasks and write everything pending."""
        await self._pruner.stop()
        await self.connections.close()
        await self.activity_log.close()

    async def _prune(self) -> None:
        await self.sessions.prune()
        await self.invitations.prune()
        await self.client_requests.prune()

    def know_plans(self, plan: Callable[[str], PlanSummary]) -> None:
        """Set the function that returns a plan's summary by name; `usage` requires it."""
        self._plan = plan

    async def usage(self, subject: str, *, plan: str = "") -> AccountUsage:
        """See `pressroom.sdk.Accounts`."""
        if self._plan is None:
            raise RuntimeError("the plans are not compiled yet")
        async with self._database.reading() as session:
            plan_query = select(UserRow.plan).where(UserRow.id == as_id(subject)).scalar_subquery()
            count_query = connection_count(subject).scalar_subquery()
            stored_plan, connections = (await session.execute(select(plan_query, count_query))).one()
            # `plan` is set for accounts known only to a plugin's authenticator, which have no row.
            name = stored_plan or plan
            if not name:
                raise NotFound("there is no such account")
            used = await self.quotas.used_within(session, subject)
            stored = await self.stored.storage_within(session, subject, stored_plan or "")
        summary = self._plan(name)
        return AccountUsage(
            plan=name,
            plan_title=summary.title,
            quotas=tuple(_quota_uses(summary.quotas, used)),
            connections=connections,
            tools=summary.tools,
            hidden_tools=summary.hidden_tools,
            unavailable_tools=summary.unavailable_tools,
            storage=stored,
        )

    async def activity(
        self,
        subject: str,
        *,
        limit: int = 50,
        before: int | None = None,
        tool: str = "",
        code: str = "",
        connection: str = "",
        website_id: str = "",
        since: datetime | None = None,
    ) -> Sequence[Activity]:
        """See `pressroom.sdk.Accounts`."""
        return await self.activity_log.list(
            subject,
            limit=limit,
            before=before,
            tool=tool,
            code=code,
            connection=connection,
            website_id=website_id,
            since=since,
        )


def _quota_uses(bounds: Mapping[str, int | None], used: Mapping[str, int]) -> Iterable[QuotaUse]:
    resets_at = next_month(datetime.now(UTC))
    for quota in sorted({*bounds, *used}):
        yield QuotaUse(quota, used.get(quota, 0), bounds.get(quota), resets_at)
