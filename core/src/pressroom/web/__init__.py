"""What all pages for people share: the look, the frame around every page, and what is known of the browser."""
