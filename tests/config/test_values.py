"""Durations, sizes, rates, colours and URLs, in the form operators write them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.config.values import (
    Duration,
    Folder,
    HexColour,
    HttpUrl,
    RateText,
    Size,
    WholeNumber,
    ascii_url,
    parse_rate,
    redis_url,
    without_trailing_slash,
)
from pressroom.sdk import Rate
from pydantic import Field, SecretStr, TypeAdapter, ValidationError

DURATION = TypeAdapter(Duration)
SIZE = TypeAdapter(Size)

UNIT_SECONDS = {
    "": Fraction(1),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86_400),
}
UNIT_BYTES = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
UNIT_WINDOWS = {"second": 1, "s": 1, "minute": 60, "min": 60, "hour": 3600, "hours": 3600, "h": 3600, "day": 86_400}

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.text(alphabet="0123456789.-+e/ mshdkKMGiBper", max_size=30),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.integers(min_value=10**400, max_value=10**401),
)


@given(
    thousandths=st.integers(0, 36_500_000), unit=st.sampled_from(sorted(UNIT_SECONDS)), space=st.sampled_from(["", " "])
)
def test_a_duration_is_the_number_times_its_unit(thousandths: int, unit: str, space: str) -> None:
    written = f"{thousandths // 1000}.{thousandths % 1000:03d}{space if unit else ''}{unit}"
    assert DURATION.validate_python(written) == float(Fraction(thousandths, 1000) * UNIT_SECONDS[unit])


@given(number=st.integers(0, 10**12), unit=st.sampled_from(sorted(UNIT_BYTES)))
def test_a_size_is_exact_to_the_byte(number: int, unit: str) -> None:
    assert SIZE.validate_python(f"{number}{unit}") == number * UNIT_BYTES[unit]


@pytest.mark.parametrize(("written", "size"), [("1.5KB", 1500), ("0.5 GiB", 2**29), ("64kib", 65_536), (7, 7)])
def test_a_size_may_have_a_fraction_and_any_case(written: str | int, size: int) -> None:
    assert SIZE.validate_python(written) == size


@pytest.mark.parametrize("written", ["0.3B", "1.0001KB", "5TB", "-1", "1e3", "GiB", "", True, 1.0, [1]])
def test_an_invalid_size_is_refused(written: Any) -> None:
    with pytest.raises(ValidationError, match="must be a whole number of bytes, or a number with KB"):
        SIZE.validate_python(written)


@pytest.mark.parametrize("written", ["1w", "-5s", "5 minutes", "1e3", "s", "", "٣s", True, None, [1]])
def test_an_invalid_duration_is_refused(written: Any) -> None:
    with pytest.raises(ValidationError, match="must be seconds, or a number with ms, s, m, h or d"):
        DURATION.validate_python(written)


@pytest.mark.parametrize("written", ["36501d", "999999999d", 3_153_600_001, 1e300, math.inf, 10**400])
def test_a_duration_after_which_there_is_no_date_is_refused(written: Any) -> None:
    with pytest.raises(ValidationError, match='must be at most "36500d", a hundred years'):
        DURATION.validate_python(written)
    assert DURATION.validate_python("36500d") == 3_153_600_000


@given(
    requests=st.integers(1, 999_999_999),
    periods=st.integers(1, 999_999),
    unit=st.sampled_from(sorted(UNIT_WINDOWS)),
    divider=st.sampled_from(["/", " / ", " per "]),
)
def test_a_rate_is_read_as_it_is_written(requests: int, periods: int, unit: str, divider: str) -> None:
    assert parse_rate(f"{requests}{divider}{periods} {unit}") == Rate(requests, periods * UNIT_WINDOWS[unit])
    assert parse_rate(f"{requests}{divider}{unit}") == Rate(requests, UNIT_WINDOWS[unit])


@pytest.mark.parametrize(
    "written", ["0/hour", "5/0min", "5", "/hour", "5/fortnight", "5//h", "5/ss", "", "9" * 10 + "/h"]
)
def test_an_invalid_rate_is_refused_with_examples(written: str) -> None:
    with pytest.raises(ValueError, match=r'must be a rate such as "300/hour"'):
        parse_rate(written)


@given(text=st.text())
def test_any_text_is_a_rate_or_a_value_error(text: str) -> None:
    try:
        rate = parse_rate(text)
    except ValueError:
        return
    assert rate.requests >= 1
    assert rate.window_seconds >= 1


@pytest.mark.parametrize(
    "kind",
    [
        Duration,
        Size,
        RateText,
        WholeNumber,
        HexColour,
        HttpUrl,
        Folder,
        Annotated[float | None, Field(gt=0)],
    ],
)
@given(value=anything)
def test_garbage_is_accepted_or_refused_but_never_crashes(kind: Any, value: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    try:
        accepted = adapter.validate_python(value)
    except ValidationError:
        return
    if not (isinstance(accepted, float) and math.isnan(accepted)):
        assert adapter.validate_python(accepted) == accepted


def test_a_boolean_is_not_a_whole_number() -> None:
    with pytest.raises(ValidationError, match="must be a whole number"):
        TypeAdapter(WholeNumber).validate_python(True)
    assert TypeAdapter(WholeNumber).validate_python("12") == 12


def test_a_colour_is_normalised_to_lower_case() -> None:
    assert TypeAdapter(HexColour).validate_python("#B9502A") == "#b9502a"


@pytest.mark.parametrize("written", ["http://example.com", "https://[::1]:8443/path?q=1", "HTTPS://EXAMPLE.com/"])
def test_a_url_is_preserved_byte_for_byte(written: str) -> None:
    assert TypeAdapter(HttpUrl).validate_python(written) == written


@pytest.mark.parametrize(
    "written",
    [
        "ftp://example.com",
        "example.com",
        "http://",
        "http://:80",
        "http://[::1",
        "http://host:99999",
        "http://host:0",
        "http://ho st",
        "http://exa\nmple.com",
        "http://example.com\u2028",
    ],
)
def test_an_invalid_url_is_refused(written: str) -> None:
    with pytest.raises(ValidationError, match="must be a URL that begins with http://"):
        TypeAdapter(HttpUrl).validate_python(written)


def test_trailing_slashes_are_removed_from_a_base_url() -> None:
    assert without_trailing_slash("https://example.com//") == "https://example.com"


@pytest.mark.parametrize("written", ["https://a/?q", "https://a/#f", "https://me:pw@a/"])
def test_a_base_url_has_only_a_host_and_a_path(written: str) -> None:
    with pytest.raises(ValueError, match="without user name, query and fragment"):
        without_trailing_slash(written)


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://BÜCHER.example:8443/Läden/a%20b", "https://xn--bcher-kva.example:8443/L%C3%A4den/a%20b"),
        ("http://[::1]:80/ä", "http://[::1]:80/%C3%A4"),
        ("https://Press.example/a", "https://Press.example/a"),
    ],
)
def test_a_url_is_converted_to_ascii(written: str, sent: str) -> None:
    assert ascii_url(written) == sent


@pytest.mark.parametrize("host", ["straße.example", "a..ü", "ü" * 64, "\u0627\u200c\u0628.example"])
def test_an_ambiguous_host_name_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match="its host name has no unambiguous ASCII form"):
        ascii_url(f"https://{host}")


@pytest.mark.parametrize("written", ["http://u:hunter2@h", "redis://u:hunter2@h:port", "redis://u:hunter2@\u2100/0"])
def test_an_invalid_redis_url_is_refused_without_its_password(written: str) -> None:
    with pytest.raises(ValueError, match="must be a URL that begins with redis://") as caught:
        redis_url(SecretStr(written))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("path", ["", "/", "/0", "/15", "/1/", "?db=3"])
def test_a_redis_url_may_name_a_database_by_its_number(path: str) -> None:
    url = SecretStr(f"redis://localhost:6379{path}")
    assert redis_url(url) is url
    assert redis_url(SecretStr("unix:///run/redis.sock?db=1"))


@pytest.mark.parametrize("path", ["/pressroom", "/l", "/0x1"])
def test_a_redis_url_that_would_mean_database_0_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="must end with the number of a database") as caught:
        redis_url(SecretStr(f"redis://:hunter2@localhost:6379{path}"))
    assert "hunter2" not in str(caught.value)


def test_a_folder_may_begin_with_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert str(TypeAdapter(Folder).validate_python("~/data")) == "/home/someone/data"


@pytest.mark.parametrize("written", ["", "a\0b", "~nobody-has-this-name/data"])
def test_an_invalid_folder_is_refused(written: str) -> None:
    with pytest.raises(ValidationError, match="must name a folder"):
        TypeAdapter(Folder).validate_python(written)
