"""Imported by the fork server, and by nothing but it: worker processes begin with the model of languages.

It takes a third of a second to read, and is the same for all of them.
"""

from pressroom_seo.scoring.text import load

load()
