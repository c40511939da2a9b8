"""Search for licensed images, and the media library of articles."""
