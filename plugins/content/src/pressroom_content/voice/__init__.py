"""The writing guides of websites, and checks of texts against them."""
