"""A family of its own: exponential distributions of one variable."""
