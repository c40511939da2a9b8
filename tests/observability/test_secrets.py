import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pressroom.observability.secrets import is_secret_name, mask_secrets, masked_text

SECRET = "Zx9-hunter2_Qq"


SECRET_NAMES = """
    password PASSWORD dbPassword api_key apiKey X-Api-Key apikey token access_token idToken Authorization
    Proxy-Authorization Cookie Set-Cookie client_secret secretAccessKey signature X-Amz-Signature X-Amz-Credential
    private_key forwarded_secret credentials setupToken code_verifier
"""
HARMLESS_NAMES = "key keys cache_key tokens max_tokens author path signed event"


@pytest.mark.parametrize("name", SECRET_NAMES.split())
def test_a_secret_name_is_recognised(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", [*HARMLESS_NAMES.split(), ""])
def test_a_name_that_resembles_a_secret_name_is_not_recognised(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("GET /f?expires=1&signature=§&x=2", "GET /f?expires=1&signature=***&x=2"),
        ("https://h/?X-Amz-Credential=§&X-Amz-Signature=§", "https://h/?X-Amz-Credential=***&X-Amz-Signature=***"),
        ("GET /setup?token=§&x=2", "GET /setup?token=***&x=2"),
        ("url=https://h/?token=§ end", "url=https://h/?token=*** end"),
        ("redis://user:§@host:6379/0", "redis://***@host:6379/0"),
        ("postgresql+asyncpg://:§@host", "postgresql+asyncpg://***@host"),
        ("Authorization: Bearer §\nAccept: a", "Authorization: ***\nAccept: a"),
        ("authorization: Basic § §", "authorization: ***"),
        ("Cookie: a=§; b=§\r\nHost: h", "Cookie: ***\r\nHost: h"),
        ("{'Authorization': 'Bearer §', 'Accept': 'a'}", "{'Authorization': ***, 'Accept': 'a'}"),
        ('{"password": "§", "size": 1}', '{"password": ***, "size": 1}'),
        ('"{\\"api_key\\": \\"§\\", \\"a\\": 1}"', '"{\\"api_key\\": ***, \\"a\\": 1}"'),
        ("('client_secret', '§')", "('client_secret', ***)"),
        ("Login(user='a', password='§')", "Login(user='a', password=***)"),
        ("sent BEARER § to it", "sent BEARER *** to it"),
        ("prk_key_§0123456789abcdefghij_crc was used", "prk_key_*** was used"),
        ("prk_oat_eyJS.eyJ0123456789.abc-_", "prk_oat_***"),
    ],
)  # fmt: skip
def test_a_credential_inside_text_is_masked(text: str, masked: str) -> None:
    assert masked_text(text.replace("§", SECRET)) == masked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a plain sentence",
        "/tools/qr-code-generator/api/generate",
        "size=512&margin=2",
        "invalid token: it has expired",
        '{"key": "qr/ab.png"}',
        "http://host:8000/path",
        "user@example.com",
        "2001:db8:1:2::/64",
        "x_key_short",
    ],
)
def test_text_without_credentials_is_unchanged(text: str) -> None:
    assert masked_text(text) == text


@given(
    st.sampled_from(["password", "api_key", "client-secret", "signature", "authToken"]),
    st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=20),
    st.text(max_size=30),
    st.text(max_size=30),
)
def test_no_secret_survives_whatever_stands_around_it(name: str, secret: str, before: str, after: str) -> None:
    assume(secret not in before + after)
    for joint in ("{}={}", "'{}': '{}'", '"{}":"{}"', '\\"{}\\": \\"{}\\"'):
        assert secret not in masked_text(f"{before} {joint.format(name, secret)} {after}")


def test_many_names_in_one_text_are_masked_correctly() -> None:
    assert masked_text("a=" * 20_000) == "a=" * 20_000
    assert masked_text("token=x&" * 10_000) == "token=***&" * 10_000
    assert masked_text("a-" * 50_000) == "a-" * 50_000


def test_secrets_are_masked_at_every_level_of_an_event() -> None:
    event = {
        "event": f"failed with token={SECRET}",
        "password": 12345,
        "headers": {"Authorization": f"Bearer {SECRET}", "Accept": "text/html"},
        "tried": [{"api_key": SECRET}, f"https://u:{SECRET}@host", ("fine", 1)],
        "size": 512,
        "cached": True,
        "nothing": None,
    }
    assert mask_secrets(None, "info", event) == {
        "event": "failed with token=***",
        "password": "***",
        "headers": {"Authorization": "***", "Accept": "text/html"},
        "tried": [{"api_key": "***"}, "https://***@host", ["fine", 1]],
        "size": 512,
        "cached": True,
        "nothing": None,
    }


def test_values_nested_too_deep_to_search_are_masked() -> None:
    for make in (lambda inner: [inner], lambda inner: {"inner": inner}):
        nested: object = {"password": SECRET}
        for _ in range(20):
            nested = make(nested)
        assert SECRET not in str(mask_secrets(None, "info", {"nested": nested, "kept": [[["x", 1]]]}))
    assert mask_secrets(None, "info", {"kept": [[[[[[[[1, "x"]]]]]]]]}) == {"kept": [[[[[[[[1, "x"]]]]]]]]}


def test_a_self_referencing_value_does_not_hang() -> None:
    loop: list[object] = ["password=x"]
    loop.append(loop)
    masked = mask_secrets(None, "info", {"loop": loop})
    assert masked["loop"][0] == "password=***"
