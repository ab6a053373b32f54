"""The dialect `layout`: attributes, types, operations, verifiers and canonicalization."""
