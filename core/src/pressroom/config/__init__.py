"""The configuration: one TOML file and the environment."""
