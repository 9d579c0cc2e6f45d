"""The service: it keeps rules, knots and definitions and tells workers what to run. It never touches records."""
