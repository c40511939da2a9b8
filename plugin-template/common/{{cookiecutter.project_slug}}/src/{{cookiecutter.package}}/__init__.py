"""A Pressroom plugin that {{ cookiecutter.summary }}."""
