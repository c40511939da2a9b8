"""The version of the host."""

VERSION = "0.1.0"
