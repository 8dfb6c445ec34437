"""Experiments about results: values bit by bit and at special points, rules, random programs, refused calls."""
