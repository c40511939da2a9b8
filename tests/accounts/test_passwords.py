"""Password acceptance and hashing."""

import asyncio
import threading
import unicodedata
from typing import Literal

import pytest
from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST
from hypothesis import given
from hypothesis import strategies as st
from pressroom.accounts.passwords import (
    MAX_PASSWORD_LENGTH,
    MIN_PASSWORD_LENGTH,
    PasswordHashes,
    acceptable_password,
    normalised_password,
)
from pressroom.errors import InvalidInput, Overloaded

WORDS = ("ada.lovelace@example.com", "Ada Lovelace", "Pressroom")
CHEAP = PasswordHasher.from_parameters(CHEAPEST)


@pytest.mark.parametrize(
    "password",
    [
        "four quiet random words",
        "Tr0ub4dor&3xyz",
        "пароль из четырёх слов",
        "密码由四个随机的词语组成吧",
        "🦊 jumps over 🐶 twice",
        "example is not everything",
        " leading and trailing ",
        "abcd efgh jklm " * 17,
    ],
)
def test_any_characters_are_allowed(password: str) -> None:
    assert acceptable_password(password, words=WORDS) == normalised_password(password)


@pytest.mark.parametrize(
    ("password", "says"),
    [
        ("", "at least 12"),
        ("eleven char", "at least 12"),
        ("x y z " * 60, "at most 256"),
        ("a b c " * 100_000, "at most 256"),
        ("quiet words\0 here", "control"),
        ("password1234", "attackers try"),
        ("PassWord2026!", "attackers try"),
        ("passwordpassword", "attackers try"),
        ("correct horse battery staple", "attackers try"),
        ("qwertyuiopqw", "attackers try"),
        ("123456789012", "attackers try"),
        ("210987654321", "attackers try"),
        ("abcdefghijklm", "attackers try"),
        ("1qaz2wsx3edc", "attackers try"),
        ("aaaaaaaaaaaaaaa", "attackers try"),
        ("ababababababab", "attackers try"),
        ("ada.lovelace@example.com", "your e-mail address"),
        ("lovelace1815", "your e-mail address"),
        ("Pressroom2026", "your e-mail address"),
        ("pressroomlovelace", "your e-mail address"),
    ],
)
def test_an_easily_guessed_password_is_refused(password: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        acceptable_password(password, words=WORDS)
    assert refused.value.field == "password"
    assert says in refused.value.problem
    assert not password or password not in refused.value.message


def test_length_is_counted_after_normalisation() -> None:
    assert len(acceptable_password("\ufdfa")) == 18
    with pytest.raises(InvalidInput, match="at most"):
        acceptable_password("\ufdfa" * 20)
    with pytest.raises(InvalidInput, match="at least"):
        acceptable_password("cafe\u0301 latte!")


@given(st.text(max_size=400))
def test_normalisation_is_final_and_blind_to_form(text: str) -> None:
    once = normalised_password(text)
    assert normalised_password(once) == once
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert normalised_password(unicodedata.normalize(form, text)) == once


@given(st.text(max_size=400))
def test_what_is_accepted_has_the_length_that_is_promised(text: str) -> None:
    try:
        password = acceptable_password(text, words=WORDS)
    except InvalidInput:
        return
    assert MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH
    assert acceptable_password(password, words=WORDS) == password


async def test_an_unsupported_or_malformed_hash_matches_nothing() -> None:
    hashes = PasswordHashes(CHEAP)
    for encoded in ("", "rubbish", "$argon2id$v=19$m=8,t=1,p=1$x$y", "$2b$12$abcdefghijklmnopqrstuv"):
        assert not await hashes.matches(encoded, "four quiet random words")


@pytest.mark.usefixtures("real_hashes")
async def test_the_dummy_hash_costs_as_much_as_a_real_one() -> None:
    hashes = PasswordHashes()
    real = await hashes.make("four quiet random words")
    parameters = real.rpartition("$")[0].rpartition("$")[0]
    assert parameters == "$argon2id$v=19$m=65536,t=3,p=4"
    assert hashes._nobodys.startswith(parameters)
    assert len(hashes._nobodys) == len(real)
    assert not hashes.outdated(hashes._nobodys)
    assert hashes._nobodys != PasswordHashes()._nobodys


class CountingHasher(PasswordHasher):
    """Counts concurrent checks and holds them until told to continue."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.go_on = threading.Event()
        self.started = threading.Semaphore(0)
        self.running = self.most = 0
        self._lock = threading.Lock()

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:  # noqa: A002 - the name of the argument
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.started.release()
        self.go_on.wait(30)
        with self._lock:
            self.running -= 1
        return super().verify(hash, password)


async def test_concurrent_checks_are_limited_and_excess_callers_refused() -> None:
    hasher = CountingHasher()
    hashes = PasswordHashes(hasher)
    first = [asyncio.create_task(hashes.matches("", "x")) for _ in range(100)]
    await asyncio.to_thread(hasher.started.acquire)
    for task in first:
        task.cancel()
    await asyncio.gather(*first, return_exceptions=True)
    second = [asyncio.create_task(hashes.matches("", "x")) for _ in range(250)]
    done, waiting = await asyncio.wait(second, return_when=asyncio.FIRST_COMPLETED)
    assert {type(task.exception()) for task in done} == {Overloaded}
    hasher.go_on.set()
    assert await asyncio.gather(*waiting) == [False] * 200
    assert 1 <= hasher.most <= 4
