"""Drawing toolkit for plugins that generate images. Install it as the extra `graphics`."""
