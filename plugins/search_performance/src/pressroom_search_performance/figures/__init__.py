"""The figures themselves: fetching, keeping and reading them."""
