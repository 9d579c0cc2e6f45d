"""Watermarks as a table: how far event time has come in each partition."""
