"""Pressroom plugin that renders HTML with inline styles, and designed templates, as PNG or JPEG."""
