"""The library: what it keeps of images, and the links with which people upload."""
