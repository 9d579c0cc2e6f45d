"""What is unusual, as it comes: one detector for each series, and how good it is.

`detector` (a value judged by those before it, with what was expected) → `nab` (the score of the Numenta Anomaly
Benchmark) → `series` (labelled series from files). Values in, values out; no Spark, no HTTP.
"""
