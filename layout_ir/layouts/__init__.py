"""Layouts as values: functions from a logical index to a place in memory. No IR and no vendor's name in here."""
