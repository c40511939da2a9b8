"""Tests that the plugin fulfils its contract with the host."""

from pressroom.testing import assert_plugin_conforms


def test_the_plugin_conforms() -> None:
    assert_plugin_conforms("{{ cookiecutter.plugin_id }}")
