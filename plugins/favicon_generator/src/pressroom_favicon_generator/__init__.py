"""Pressroom plugin that generates favicon bundles from an emoji, a letter, a short text or an uploaded image."""
