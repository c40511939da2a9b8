"""The host's own tables, and the migrations that create them."""

from typing import Final

from pressroom.sdk import Models
from pressroom.storage.database.tables.accounts import (
    ActivityRow,
    ApiKeyRow,
    Base,
    ClientRequestRow,
    ClientRow,
    CodeRow,
    ConnectionRow,
    IdentityRow,
    InvitationRow,
    MembershipRow,
    QuotaRow,
    RefreshTokenRow,
    SessionRow,
    SetupLinkRow,
    SigningKeyRow,
    TokenFamilyRow,
    UserRow,
)
from pressroom.storage.database.tables.jobs import PERIOD_KEY, JobLockRow, JobRow, KeyFingerprintRow

HOST_MODELS: Final = Models(Base.metadata, "pressroom.storage.database.tables.migrations")
"""The host's tables and migrations, in the form that plugins contribute."""

__all__ = [
    "HOST_MODELS",
    "PERIOD_KEY",
    "ActivityRow",
    "ApiKeyRow",
    "Base",
    "ClientRequestRow",
    "ClientRow",
    "CodeRow",
    "ConnectionRow",
    "IdentityRow",
    "InvitationRow",
    "JobLockRow",
    "JobRow",
    "KeyFingerprintRow",
    "MembershipRow",
    "QuotaRow",
    "RefreshTokenRow",
    "SessionRow",
    "SetupLinkRow",
    "SigningKeyRow",
    "TokenFamilyRow",
    "UserRow",
]
