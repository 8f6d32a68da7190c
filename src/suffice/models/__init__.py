"""Structure and parameters together: frozen distributions that can be evaluated and sampled."""
