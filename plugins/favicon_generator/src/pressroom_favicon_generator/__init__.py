"""Favicon bundles from an emoji, a letter or a short text: a built-in plugin of Pressroom."""
