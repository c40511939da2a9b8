"""The tables of the host itself, and the migrations that make them."""

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
from pressroom.storage.database.tables.jobs import JobLockRow, JobRow, KeyFingerprintRow

HOST_MODELS: Final = Models(Base.metadata, "pressroom.storage.database.tables.migrations")
"""What a plugin contributes for its tables, for those of the host."""

__all__ = [
    "HOST_MODELS",
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
