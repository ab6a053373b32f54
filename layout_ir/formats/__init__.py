"""Vendors' notations: one file a vendor, each turning a name into a layout, and the registry that finds them."""
