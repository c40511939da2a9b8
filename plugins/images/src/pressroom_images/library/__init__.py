"""The media library: storage, thumbnails, upload links and reviews of images."""
