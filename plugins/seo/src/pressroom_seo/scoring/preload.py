"""Preloads the language model into the fork server, so that worker processes share it. Do not import elsewhere.

Loading takes a third of a second.
"""

from pressroom_seo.scoring.text import load

load()
