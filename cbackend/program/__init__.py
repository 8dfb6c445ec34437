"""From a graph to a program: the steps of a driver, each of which launches a kernel or moves data."""
