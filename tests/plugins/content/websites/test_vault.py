"""Credentials are encrypted for one website each, and keys can be rotated."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.sdk import BackendError
from pressroom_content.contract import SiteRejected
from pressroom_content.vault import FILE_NAME, Vault, stored_key

OLD, NEW = b"o" * 32, b"n" * 32
CREDENTIAL = {"user": "ada", "password": "correct horse battery"}


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=200), max_size=5))
def test_what_was_sealed_opens(credential: dict[str, str]) -> None:
    vault = Vault([NEW])
    sealed = vault.seal(credential, "w_1")
    assert vault.open(sealed, "w_1") == credential
    assert all(text not in sealed for text in credential.values() if len(text) > 8)


def test_a_credential_of_another_website_cannot_be_decrypted() -> None:
    vault = Vault([NEW])
    with pytest.raises(SiteRejected, match="can no longer be decrypted"):
        vault.open(vault.seal(CREDENTIAL, "w_1"), "w_2")


def test_an_old_key_decrypts_and_the_first_key_encrypts() -> None:
    ciphertext = Vault([OLD]).seal(CREDENTIAL, "w_1")
    both = Vault([NEW, OLD])
    assert both.open(ciphertext, "w_1") == CREDENTIAL
    assert not both.is_current(ciphertext)
    fresh = both.seal(CREDENTIAL, "w_1")
    assert both.is_current(fresh)
    assert Vault([NEW]).open(fresh, "w_1") == CREDENTIAL
    with pytest.raises(SiteRejected):
        Vault([NEW]).open(ciphertext, "w_1")


@given(st.text(max_size=80))
def test_what_is_no_credential_is_refused(text: str) -> None:
    vault = Vault([NEW])
    sealed = vault.seal(CREDENTIAL, "w_1")
    for bad in (text, sealed + text[:1], f"{text}.{sealed}", sealed[: len(sealed) // 2]):
        if bad != sealed:
            with pytest.raises(SiteRejected):
                vault.open(bad, "w_1")
            assert vault.is_current(bad) in (True, False)


def test_the_stored_key_is_created_once_and_readable_only_by_its_owner(tmp_path: Path) -> None:
    folder = tmp_path / "content"
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: stored_key(folder), range(16)))
    assert len(keys) == 1
    assert stat.S_IMODE((folder / FILE_NAME).stat().st_mode) == 0o600
    assert [file.name for file in folder.iterdir()] == [FILE_NAME]


def test_a_damaged_key_is_reported(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("short")
    with pytest.raises(BackendError, match="64 hex digits"):
        stored_key(tmp_path)
