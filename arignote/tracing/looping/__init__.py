"""Loops of a traced function: bodies as graphs, and steps that are traced one by one."""

from __future__ import annotations
