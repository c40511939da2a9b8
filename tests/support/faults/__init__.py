"""Every way in which a plugin can be broken; collected by `support.plugin_distributions`."""
