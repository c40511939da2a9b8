"""Normalisation and comparison of e-mail addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.accounts.users import normalised_email
from pressroom.errors import InvalidInput


@pytest.mark.parametrize(
    ("typed", "compared"),
    [
        ("ada@example.com", "ada@example.com"),
        ("  ADA.Lovelace+news@Example.COM\n", "ada.lovelace+news@example.com"),
        ("o'neil@example.com", "o'neil@example.com"),
        ("root@localhost", "root@localhost"),
        ("zoe\u0308@exa\u0308mple.org", "zo\u00eb@ex\u00e4mple.org"),
        ("\u212aelvin@example.com", "kelvin@example.com"),
        ("用户@例子.测试", "用户@例子.测试"),
        ("उपयोगकर्ता@उदाहरण.कॉम", "उपयोगकर्ता@उदाहरण.कॉम"),
    ],
)
def test_an_email_address_is_normalised(typed: str, compared: str) -> None:
    assert normalised_email(typed) == compared


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "@example.com",
        "ada@",
        "a@b@example.com",
        "ada @example.com",
        "ada@exam ple.com",
        "ada@-example.com",
        "ada@example-.com",
        "ada@example..com",
        ".ada@example.com",
        "ada.@example.com",
        "a..da@example.com",
        '"ada"@example.com',
        "ada@[192.0.2.1]",
        "ada@example.com\0",
        "a\u202eda@example.com",
        "a\u00a0da@example.com",
        "a\udfffda@example.com",
        "<ada@example.com>",
        "x" * 65 + "@example.com",
        "ada@" + "x" * 64 + ".com",
        "ada@" + "x." * 130 + "com",
        "x" * 1_000_000,
        "ada@" + "\u4f8b" * 63 + "." + "\u4f8b" * 63,
    ],
)
def test_an_invalid_email_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        normalised_email(text)
    assert refused.value.field == "email"


@given(st.one_of(st.text(max_size=80), st.builds("{}@{}".format, st.text(min_size=1), st.text(min_size=1))))
def test_the_form_is_final_and_fits_the_database(text: str) -> None:
    try:
        once = normalised_email(text)
    except InvalidInput:
        return
    assert normalised_email(once) == once
    assert once.count("@") == 1
    assert len(once) <= 254
    assert once.isprintable()
    assert not set(once) & set(" \0\n<>\"'(),:;") - {"'"}


@given(st.emails())
def test_ordinary_addresses_are_taken_in_any_case(address: str) -> None:
    try:
        expected = normalised_email(address)
    except InvalidInput:
        assert len(address.rpartition("@")[0]) > 64 or len(address) > 254
        return
    assert normalised_email(address.upper()) == normalised_email(address.lower()) == expected
