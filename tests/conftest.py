"""What holds for all tests."""

from hypothesis import settings

# The machines that run the tests are shared: how long one example takes says nothing.
settings.register_profile("pressroom", deadline=None)
settings.load_profile("pressroom")
