"""Back up a server's data, and restore it."""

from pressroom.backup.archive import Manifest
from pressroom.backup.make import MadeBackup, make_backup
from pressroom.backup.restore import RestoredBackup, restore_backup

__all__ = ["MadeBackup", "Manifest", "RestoredBackup", "make_backup", "restore_backup"]
