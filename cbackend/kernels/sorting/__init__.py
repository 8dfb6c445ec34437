"""Order: sorts, selections, searches, distinct and nonzero elements."""
