"""The writing guides of websites, and the check of texts against them."""
