"""The gate for all calls into plugins: it attributes code to plugins, enforces timeouts and contains failures."""

from pressroom.gate.plugin_gate import PluginCall, PluginFailed, PluginGate

__all__ = ["PluginCall", "PluginFailed", "PluginGate"]
