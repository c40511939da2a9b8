"""Backups of a server's data, and restoring them."""

from pressroom.backup.make import MadeBackup, make_backup
from pressroom.backup.manifest import Manifest
from pressroom.backup.restore import Restored, restore_backup

__all__ = ["MadeBackup", "Manifest", "Restored", "make_backup", "restore_backup"]
