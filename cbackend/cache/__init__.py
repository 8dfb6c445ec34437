"""Cache of compiled code on disk: content-addressed, verified, repaired; its folder, files and upkeep."""
