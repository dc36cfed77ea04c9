"""Types for annotations, as Python 3.11's typing."""
