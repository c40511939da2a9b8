"""Images of source code: a built-in plugin of Pressroom."""
