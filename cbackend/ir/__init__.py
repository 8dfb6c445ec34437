"""What a kernel is and what it does: its contract with the driver, and the loop IR."""
