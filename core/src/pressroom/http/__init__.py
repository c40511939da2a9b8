"""HTTP code that all interfaces share: requests, responses, page frames, browser sessions and assets."""
