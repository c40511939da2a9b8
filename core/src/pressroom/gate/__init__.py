"""The gate for every call into a plugin: it knows whose code runs, bounds its time, and contains its failures."""

from pressroom.gate.plugin_gate import PluginCall, PluginFailed, PluginGate

__all__ = ["PluginCall", "PluginFailed", "PluginGate"]
