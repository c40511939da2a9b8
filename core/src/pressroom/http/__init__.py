"""What all interfaces share of HTTP: responses and requests, the frame of pages, sessions of browsers, assets."""
