"""Again, or differently: taking back what was done, and (later) running recorded knots once more."""
