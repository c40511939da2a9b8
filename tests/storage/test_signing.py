import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pressroom.storage.files import UrlSigner, UrlStatus

PATH = "/files/qr-code-generator/0123456789abcdef0123456789abcdef.png"
EXPIRES = 1_800_000_000
SIGNER = UrlSigner(b"a secret of 16 bytes and more")


def signature_of(query: str) -> str:
    match = re.fullmatch(r"expires=\d+&signature=([A-Za-z0-9_-]{43})", query)
    assert match
    return match[1]


SIGNATURE = signature_of(SIGNER.sign(PATH, EXPIRES))


def test_a_url_is_valid_until_the_second_it_expires() -> None:
    assert SIGNER.verify(PATH, str(EXPIRES), SIGNATURE, EXPIRES - 0.001) is UrlStatus.VALID
    assert SIGNER.verify(PATH, str(EXPIRES), SIGNATURE, EXPIRES) is UrlStatus.EXPIRED


def test_an_altered_expiry_is_altered_and_not_expired() -> None:
    for expires in (EXPIRES + 1, EXPIRES - 1, 0, -1):
        assert SIGNER.verify(PATH, str(expires), SIGNATURE, EXPIRES + 100) is UrlStatus.ALTERED


@pytest.mark.parametrize(
    "other",
    [f"0{EXPIRES}", f"+{EXPIRES}", f" {EXPIRES}", f"{EXPIRES}.0", "\uff11\uff18" + "\uff10" * 8, "1_800_000_000"],
)
def test_another_spelling_of_the_same_expiry_is_altered(other: str) -> None:
    assert SIGNER.verify(PATH, other, SIGNATURE, 0) is UrlStatus.ALTERED


def test_missing_parameters_are_altered() -> None:
    assert SIGNER.verify(PATH, "", SIGNATURE, 0) is UrlStatus.ALTERED
    assert SIGNER.verify(PATH, str(EXPIRES), "", 0) is UrlStatus.ALTERED
    assert SIGNER.verify(PATH, "", "", 0) is UrlStatus.ALTERED


def test_servers_with_the_same_secret_accept_each_others_urls() -> None:
    other_signer = UrlSigner(b"a secret of 16 bytes and more")
    assert other_signer.verify(PATH, str(EXPIRES), SIGNATURE, 0) is UrlStatus.VALID


def test_a_server_with_another_secret_does_not() -> None:
    other = UrlSigner(b"A secret of 16 bytes and more")
    assert other.verify(PATH, str(EXPIRES), SIGNATURE, 0) is UrlStatus.ALTERED


def test_a_weak_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        UrlSigner(b"fifteen bytes..")


def test_the_signature_does_not_reveal_the_secret() -> None:
    assert b"secret" not in repr(SIGNER).encode()


@given(st.integers(0, 42), st.sampled_from("ABCxyz019-_"))
def test_a_signature_with_one_other_character_is_altered(position: int, character: str) -> None:
    assume(SIGNATURE[position] != character)
    changed = SIGNATURE[:position] + character + SIGNATURE[position + 1 :]
    assert SIGNER.verify(PATH, str(EXPIRES), changed, 0) is UrlStatus.ALTERED


any_text = st.text(st.characters(exclude_categories=()))


@given(any_text, any_text, any_text)
def test_whatever_a_client_sends_is_altered_and_never_an_error(path: str, expires: str, signature: str) -> None:
    assert SIGNER.verify(path, expires, signature, 0) is UrlStatus.ALTERED
    assert SIGNER.verify(PATH, expires, SIGNATURE, 0) is (
        UrlStatus.VALID if expires == str(EXPIRES) else UrlStatus.ALTERED
    )
    assert SIGNER.verify(PATH, str(EXPIRES), signature, 0) is (
        UrlStatus.VALID if signature == SIGNATURE else UrlStatus.ALTERED
    )


@given(st.from_regex(r"/files/[a-z0-9-]+/[a-z0-9-]+\.[a-z]+", fullmatch=True), st.integers(0, 2**40))
def test_every_signed_address_is_accepted_for_its_own_path_only(path: str, expires: int) -> None:
    signature = signature_of(SIGNER.sign(path, expires))
    assert SIGNER.verify(path, str(expires), signature, expires - 1) is UrlStatus.VALID
    assert SIGNER.verify(path + "x", str(expires), signature, expires - 1) is UrlStatus.ALTERED
    assert SIGNER.verify(path[:-1], path[-1] + str(expires), signature, expires - 1) is UrlStatus.ALTERED
