"""Copies, ranges, checks of indices and pipelines: functions of the driver and of the runtime's core."""
