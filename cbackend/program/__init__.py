"""From a graph to the steps of a driver, and the driver's C text."""
