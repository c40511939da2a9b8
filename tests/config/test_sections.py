"""Plugin configuration, validated by the plugin's own model."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from pressroom.config import ConfigProblem, InvalidConfig, load, validate_section
from pressroom.sdk import PluginConfig
from pydantic import Field, SecretStr, model_validator

PATH = "plugins.shout.config"


class Site(PluginConfig):
    url: str
    weight: int = Field(1, ge=1)


class ShoutConfig(PluginConfig):
    volume: int = Field(5, ge=0, le=11)
    greeting: str = Field("hi", max_length=10)
    token: SecretStr | None = Field(None, min_length=4)
    mode: Literal["loud", "quiet"] | int = "loud"
    sites: list[Site] = Field(default_factory=list)
    needed: bool | None = None

    @model_validator(mode="after")
    def _loud_enough(self) -> ShoutConfig:
        if self.mode == "loud" and not self.volume:
            raise ValueError("loud needs a volume above 0")
        return self


def check(tmp_path: Path, text: str = "", **variables: str) -> ShoutConfig:
    path = tmp_path / "p.toml"
    path.write_text(text)
    loaded = load(path, {f"PRESSROOM_PLUGINS__SHOUT__CONFIG__{name}": value for name, value in variables.items()})
    return validate_section(ShoutConfig, loaded.settings.plugins["shout"].config, PATH, loaded.origins)


def problems(tmp_path: Path, text: str = "", **variables: str) -> list[ConfigProblem]:
    with pytest.raises(InvalidConfig) as caught:
        check(tmp_path, text, **variables)
    return list(caught.value.problems)


def test_a_table_becomes_the_plugins_model(tmp_path: Path) -> None:
    config = check(tmp_path, "[plugins.shout.config]\nvolume = 7\n[[plugins.shout.config.sites]]\nurl = 'u'\n")
    assert config == ShoutConfig(volume=7, sites=[Site(url="u")])


def test_a_problem_has_the_plugin_the_field_the_bounds_and_the_line(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "[plugins.shout.config]\n\nvolume = 12\n")
    assert str(problem) == f"{tmp_path}/p.toml:3: plugins.shout.config.volume: must be between 0 and 11 (got 12)"


def test_all_problems_of_a_plugin_are_reported_together(tmp_path: Path) -> None:
    all_problems = problems(
        tmp_path,
        "[plugins.shout.config]\nvolum = 1\n[[plugins.shout.config.sites]]\nurl = 'u'\n"
        "[[plugins.shout.config.sites]]\nweight = 0\n",
        GREETING="much too long for that",
    )
    assert [
        (problem.key.removeprefix(f"{PATH}."), str(problem.origin).rpartition("/")[2]) for problem in all_problems
    ] == [
        ("volum", "p.toml:2"),
        ("sites.1.url", "p.toml:5"),
        ("sites.1.weight", "p.toml:6"),
        ("greeting", "PRESSROOM_PLUGINS__SHOUT__CONFIG__GREETING"),
    ]
    assert "did you mean volume?" in all_problems[0].problem


def test_a_model_rule_is_reported_for_the_table(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "[plugins.shout.config]\nvolume = 0\n")
    assert str(problem) == f"{tmp_path}/p.toml:1: plugins.shout.config: loud needs a volume above 0"


def test_a_number_in_the_environment_may_be_a_string(tmp_path: Path) -> None:
    config = check(tmp_path, VOLUME="11", GREETING="007.50", TOKEN="12345678", MODE="3", NEEDED="null")
    assert (config.volume, config.greeting, config.mode, config.needed) == (11, "007.50", 3, None)
    assert config.token is not None
    assert config.token.get_secret_value() == "12345678"


def test_exact_text_is_preserved_for_strings(tmp_path: Path) -> None:
    assert check(tmp_path, GREETING="1.50").greeting == "1.50"


def test_an_invalid_value_is_reported_beside_one_that_is_valid_as_text(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, VOLUME="12", GREETING="15", TOKEN="123456")
    assert problem.key == "plugins.shout.config.volume"
    assert problem.problem == "must be between 0 and 11 (got 12)"


def test_a_model_rule_is_checked_after_strings_are_converted(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, VOLUME="0", GREETING="15")
    assert problem.problem == "loud needs a volume above 0"


def test_a_number_in_the_file_is_not_a_string(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "[plugins.shout.config]\ngreeting = 15\n")
    assert "must be a string" in problem.problem


def test_no_message_contains_a_plugins_secret(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "[plugins.shout.config]\ntoken = 'xyz'\n")
    assert problem.key == "plugins.shout.config.token"
    assert "xyz" not in f"{problem} {problem.hint}"


def test_a_plugin_without_a_model_accepts_no_configuration() -> None:
    assert validate_section(None, {}, PATH) is None
    with pytest.raises(InvalidConfig, match=r"plugins\.shout\.config: this plugin has no settings"):
        validate_section(None, {"volume": 1}, PATH)


def test_origins_are_optional() -> None:
    with pytest.raises(InvalidConfig) as caught:
        validate_section(ShoutConfig, {"volume": 12}, path=PATH)
    assert str(caught.value) == "plugins.shout.config.volume: must be between 0 and 11 (got 12)"
