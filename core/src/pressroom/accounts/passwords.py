"""Password policy and hashing (Argon2id, RFC 9106; NIST SP 800-63B, section 3.1.1).

The blocklist at the top holds common passwords of twelve or more characters.
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
import secrets
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.profiles import RFC_9106_LOW_MEMORY

from pressroom.errors import InvalidInput, Overloaded

RUNS: Final = (
    "0123456789",
    "1234567890",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiop",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "1q2w3e4r5t6y7u8i9o0p",
    "zaq1xsw2cde3vfr4bgt5nhy6mju7",
)
"""Keyboard rows and alphabets. A password that is part of one, forwards or backwards, is rejected."""

_WORDS: Final = (
    "password",
    "passw0rd",
    "p@ssword",
    "p@ssw0rd",
    "changeme",
    "letmein",
    "welcome",
    "iloveyou",
    "princess",
    "sunshine",
    "football",
    "baseball",
    "superman",
    "starwars",
    "whatever",
    "trustno1",
    "administrator",
    "administrator1",
    "admin",
    "master",
    "monkey",
    "dragon",
    "qwerty",
    "qwertz",
    "azerty",
    "qwertyuiop",
    "asdfghjkl",
    "secret",
    "default",
    "internet",
    "computer",
    "michael",
    "jennifer",
    "liverpool",
    "chocolate",
    "pokemon",
    "naruto",
    "samsung",
    "google",
    "facebook",
)
_TAILS: Final = (
    "",
    "1",
    "12",
    "123",
    "1234",
    "12345",
    "123456",
    "1234567",
    "12345678",
    "123456789",
    "1234567890",
    "!",
    "1!",
    "12!",
    "123!",
    "1234!",
    "12345!",
    "@123",
    "@1234",
    "2024",
    "2025",
    "2026",
    "2024!",
    "2025!",
    "2026!",
)
_OTHERS: Final = (
    "correcthorsebatterystaple",
    "correct horse battery staple",
    "correct-horse-battery-staple",
    "thequickbrownfox",
    "the quick brown fox",
    "onceuponatime",
    "itsasecret123",
    "opensesame123",
    "abc123abc123",
    "a1b2c3d4e5f6",
    "aa123456789a",
    "123abc456def",
    "qwe123qwe123",
    "qweasdzxc123",
    "1qazxsw23edc",
    "!qaz2wsx#edc",
    "1qaz!qaz2wsx",
    "zaq12wsxcde3",
    "asdf1234asdf",
    "asdfjkl;asdf",
    "test1234test",
    "testtesttest",
    "passpasspass",
    "iloveyousomuch",
    "iloveyoubaby",
    "fuckyou12345",
    "mypassword123",
    "mypassword1234",
    "yourpassword",
    "newpassword1",
    "nopassword123",
    "temppassword",
    "temporarypassword",
    "supersecretpassword",
    "thisisapassword",
    "thisismypassword",
    "adminpassword",
    "rootpassword",
    "administrator123",
    "unbelievable",
    "manchesterunited",
    "realmadrid123",
    "barcelona123",
    "christopher1",
    "alexander123",
    "123456789abc",
    "1234567890ab",
    "abcdef123456",
    "987654321abc",
    "qwerty654321",
    "112233445566",
    "147258369147",
    "159753159753",
    "102030405060",
    "123123123123",
    "121212121212",
    "123654789123",
    "741852963741",
    "741852963147",
)

COMMON: Final = frozenset(
    {word + tail for word in _WORDS for tail in _TAILS} | {word + word for word in _WORDS} | {*_OTHERS}
)


T = TypeVar("T")

MIN_PASSWORD_LENGTH: Final = 12
MAX_PASSWORD_LENGTH: Final = 256

_MAX_INPUT_LENGTH: Final = 1024
_MIN_DIFFERENT_CHARACTERS: Final = 5
_MIN_OWN_CHARACTERS: Final = 6
_AT_ONCE: Final = max(1, min(4, (os.cpu_count() or 1) // 2))
_NICE: Final = 10
_MAX_WAITING: Final = 200
_WORD: Final = re.compile(r"[^\W_]{4,}")


def normalised_password(text: str) -> str:
    """Return a password in NFKC, the form that is hashed, so that the keyboard used to type it does not matter."""
    return unicodedata.normalize("NFKC", text)


def acceptable_password(text: str, *, words: Iterable[str] = ()) -> str:
    """Check a password and return it in the form that is hashed.

    Args:
        text: The password as typed.
        words: Context-specific words that are easy to guess: the person's e-mail address and name, the service name.

    Raises:
        InvalidInput: The password is too short, too long or too easy to guess; the message states the rule.
    """
    password = normalised_password(text[: _MAX_INPUT_LENGTH + 1])
    if len(password) < MIN_PASSWORD_LENGTH:
        raise InvalidInput(
            "password", f"must have at least {MIN_PASSWORD_LENGTH} characters; a few words in a row are fine"
        )
    if len(text) > _MAX_INPUT_LENGTH or len(password) > MAX_PASSWORD_LENGTH:
        raise InvalidInput("password", f"must have at most {MAX_PASSWORD_LENGTH} characters")
    if not all(character.isprintable() for character in password):
        raise InvalidInput("password", "must not contain control characters")
    folded = password.casefold()
    if folded in COMMON or _is_run(folded) or len(set(folded)) < _MIN_DIFFERENT_CHARACTERS:
        raise InvalidInput(
            "password", "is among the first that attackers try; choose another, such as four random words"
        )
    if _length_without(folded, words) < _MIN_OWN_CHARACTERS:
        raise InvalidInput(
            "password", "is too close to your e-mail address or the name of this service; choose another"
        )
    return password


def _is_run(folded: str) -> bool:
    """Return whether the text is part of an alphabet, a run of digits or a keyboard row, forwards or backwards."""
    return any(folded in run * 3 or folded[::-1] in run * 3 for run in RUNS)


def _length_without(folded: str, words: Iterable[str]) -> int:
    parts = {part for word in words for part in (word.casefold(), *_WORD.findall(word.casefold()))}
    for part in sorted((part for part in parts if len(part) >= 4), key=len, reverse=True):
        folded = folded.replace(part, "")
    return len(folded)


class PasswordHashes:
    """Makes and checks password hashes, a few at a time: each takes 64 MiB and tens of milliseconds.

    Hashing uses at most half of the processors, and runs at a lower priority than the rest of the server on Linux. A
    flood of sign-ins therefore queues up without slowing other requests.

    Args:
        hasher: Argon2 parameters for new hashes; hashes made with other parameters still verify.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)
        # A dedicated thread pool enforces the limit even if callers are cancelled while a hash is being made.
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="pressroom-passwords", initializer=_step_back)
        self._waiting = 0
        self._nobodys = _hash_of_nothing(self._hasher)

    async def make(self, password: str) -> str:
        """Return the encoded hash of an acceptable password. Raises `Overloaded`."""
        return await self._run(lambda: self._hasher.hash(password))

    async def digest_of_known_password(self, password: str) -> str:
        """Rehash an existing password, as typed, without applying the current policy. Raises `Overloaded`."""
        return await self.make(normalised_password(password))

    async def matches(self, encoded: str, password: str) -> bool:
        """Return whether a password, as typed, matches a hash. An empty hash takes the same time and never matches.

        Raises:
            Overloaded: Too many callers are already waiting.
        """
        normalised = normalised_password(password[:_MAX_INPUT_LENGTH])
        return await self._run(lambda: self._verify(encoded or self._nobodys, normalised)) and bool(encoded)

    def outdated(self, encoded: str) -> bool:
        """Return whether a hash was made with other parameters than those of new hashes."""
        return self._hasher.check_needs_rehash(encoded)

    def _verify(self, encoded: str, password: str) -> bool:
        try:
            return self._hasher.verify(encoded, password)
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False

    async def _run(self, function: Callable[[], T]) -> T:
        if self._waiting >= _MAX_WAITING:
            raise Overloaded("too many people are signing in right now; try again shortly")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function)
        finally:
            self._waiting -= 1


def _step_back() -> None:
    """Lower the priority of this thread and of the threads that Argon2 starts from it."""
    # Only Linux can set the priority of a single thread by its ID.
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + _NICE)


def _hash_of_nothing(hasher: PasswordHasher) -> str:
    """Return a hash that costs as much to verify as a real one but matches no password."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(length)).decode().rstrip("=")
        for length in (hasher.salt_len, hasher.hash_len)
    )
    return f"$argon2id$v=19$m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}${salt}${digest}"
