"""The HTTP interface of generators."""
