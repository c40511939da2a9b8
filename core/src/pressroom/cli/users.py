"""`pressroom users`: manage accounts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pressroom.cli.lazy import LazyGroup
from pressroom.cli.loading import account_of, open_accounts, with_accounts
from pressroom.cli.options import Invocation, command_options, common_options
from pressroom.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pressroom.accounts.records import Membership, User
    from pressroom.accounts.service import AccountServices

_MAX_LINE_LENGTH = 4096


@click.group(cls=LazyGroup)
@common_options
def users() -> None:
    """Create and manage accounts."""


@users.command()
@click.argument("email")
@click.option("--name", default="", help="Display name.")
@click.option("--plan", default="", help="Plan of the account.  [default: accounts.default_plan]")
@click.option("--password-stdin", is_flag=True, help="Read the password from the first line of standard input.")
@command_options
def add(invocation: Invocation, email: str, name: str, plan: str, password_stdin: bool) -> None:
    """Create an account. Without a password, the user signs in through the identity provider."""
    password = _password_from_stdin() if password_stdin else None
    user = with_accounts(
        invocation, lambda accounts: accounts.users.add(email, name=name, plan=plan, password=password)
    )
    _report(invocation, user, f"{user.email} has an account on the plan {user.plan}.")
    if not user.has_password:
        invocation.output.note(
            f"It has no password. Set one with `pressroom users set-password {user.email} --password-stdin`."
        )


@users.command("list")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="Maximum number.")
@click.option("--after", metavar="EMAIL", default="", help="Start after this e-mail address.")
@click.option("--find", metavar="TEXT", default="", help="Only accounts with this in their e-mail address or name.")
@command_options
def list_users(invocation: Invocation, limit: int, after: str, find: str) -> None:
    """List the accounts, ordered by e-mail address."""
    after_email = after.lower()

    async def read(accounts: AccountServices) -> tuple[list[User], Mapping[str, Sequence[Membership]]]:
        listed = list(await accounts.users.list(limit=limit + 1, after=after_email, find=find))
        return listed, await accounts.memberships.of_members(user.id for user in listed)

    users, memberships = with_accounts(invocation, read)
    has_more, users = len(users) > limit, users[:limit]
    if invocation.json:
        listed = [as_data(user) | {"memberOf": _member_of(memberships.get(user.id, ()))} for user in users]
        invocation.output.data({"users": listed, "next": users[-1].email if has_more else None})
        return
    if not users:
        condition = f" with {find!r} in its e-mail address or name" if find else ""
        invocation.output.line(f"There is no account{condition}{f' after {after}' if after else ''}.")
        return
    headings = ["E-mail", "Name", "Plan", "State", "Last sign-in"]
    rows = [[user.email, user.name, user.plan, _state(user), _last_sign_in_text(user)] for user in users]
    if memberships:
        headings.append("Works in the accounts of")
        for row, user in zip(rows, users, strict=True):
            row.append(
                ", ".join(
                    f"{membership.account.email} ({membership.role})" for membership in memberships.get(user.id, ())
                )
            )
    invocation.output.table(headings, rows)
    if has_more:
        invocation.output.note(f"There are more: --after {users[-1].email}")


@users.command("set-plan")
@click.argument("email")
@click.argument("plan")
@command_options
def set_plan(invocation: Invocation, email: str, plan: str) -> None:
    """Move an account to another plan, effective immediately."""

    async def change(accounts: AccountServices) -> User:
        return await accounts.users.set_plan((await account_of(accounts, email)).id, plan)

    user = with_accounts(invocation, change)
    _report(invocation, user, f"{user.email} is on the plan {user.plan} now.")


@users.command()
@click.argument("email")
@command_options
def disable(invocation: Invocation, email: str) -> None:
    """Disable an account: its sessions end, and its keys and tokens stop working. Nothing is deleted."""
    user = with_accounts(invocation, lambda accounts: _set_disabled(accounts, email, True))
    _report(invocation, user, f"{user.email} is disabled.")


@users.command()
@click.argument("email")
@command_options
def enable(invocation: Invocation, email: str) -> None:
    """Enable a disabled account."""
    user = with_accounts(invocation, lambda accounts: _set_disabled(accounts, email, False))
    _report(invocation, user, f"{user.email} is enabled again.")


@users.command("set-password")
@click.argument("email")
@click.option("--password-stdin", is_flag=True, help="Read the password from the first line of standard input.")
@command_options
def set_password(invocation: Invocation, email: str, password_stdin: bool) -> None:
    """Set the password of an account. All its sessions end."""
    if not password_stdin:
        raise click.UsageError("Give --password-stdin, and the password on standard input.")
    password = _password_from_stdin()

    async def change(accounts: AccountServices) -> User:
        return await accounts.users.set_password((await account_of(accounts, email)).id, password)

    user = with_accounts(invocation, change)
    _report(invocation, user, f"{user.email} has a new password; its sessions have ended.")


@users.command("clear-password")
@click.argument("email")
@command_options
def clear_password(invocation: Invocation, email: str) -> None:
    """Remove the password of an account. The user then signs in through the identity provider."""
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    async def change() -> tuple[User, bool]:
        async with open_accounts(invocation) as (compiled, _, accounts):
            user = await accounts.users.clear_password((await account_of(accounts, email)).id)
            return user, compiled.settings.accounts.identity_provider.issuer is not None

    user, can_sign_in = asyncio.run(change())
    _report(invocation, user, f"{user.email} no longer has a password; its sessions have ended.")
    if not can_sign_in:
        invocation.output.note(
            "No identity provider is configured, so this user cannot sign in until you set a password: "
            f"pressroom users set-password {user.email}"
        )


def as_data(user: User) -> dict[str, Any]:
    """Return an account as JSON data."""
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "plan": user.plan,
        "hasPassword": user.has_password,
        "disabled": user.disabled,
        "createdAt": user.created_at.isoformat(),
        "lastSignInAt": user.last_sign_in_at.isoformat() if user.last_sign_in_at else None,
    }


def _member_of(memberships: Sequence[Membership]) -> list[dict[str, Any]]:
    return [{"account": membership.account.email, "role": membership.role} for membership in memberships]


async def _set_disabled(accounts: AccountServices, email: str, disabled: bool) -> User:
    return await accounts.users.set_disabled((await account_of(accounts, email)).id, disabled)


def _password_from_stdin() -> str:
    """Return the first line of standard input without its line ending."""
    data = sys.stdin.buffer.readline(_MAX_LINE_LENGTH)
    try:
        return data.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise InvalidInput("password", "must be text in UTF-8") from None


def _report(invocation: Invocation, user: User, sentence: str) -> None:
    if invocation.json:
        invocation.output.data(as_data(user))
    else:
        invocation.output.line(sentence)


def _state(user: User) -> str:
    if user.disabled:
        return "disabled"
    return "active" if user.has_password else "no password"


def _last_sign_in_text(user: User) -> str:
    return user.last_sign_in_at.strftime("%Y-%m-%d %H:%M UTC") if user.last_sign_in_at else "never"
