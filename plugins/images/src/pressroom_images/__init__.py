"""Licensed images: where they are found, under which conditions, and the library that articles take them from."""
