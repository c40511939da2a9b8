"""HTML with inline styles, and designed templates, as PNG or JPEG, for Pressroom."""
