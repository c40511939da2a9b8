"""The `pressroom` command."""
