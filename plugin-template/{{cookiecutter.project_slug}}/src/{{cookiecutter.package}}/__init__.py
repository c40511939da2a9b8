"""A Pressroom plugin that draws badges."""
