"""Where figures come from."""
