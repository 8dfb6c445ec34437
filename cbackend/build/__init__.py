"""C text to a loaded library: the compiler, its flags, its process."""
