"""Keeping up: how many executors there should be, before it is too late. Values in, values out; no Spark, no HTTP.

`history` (the load that was measured) and `arrivals` (what came, from a file) → `forecast` (what may come: one
protocol, walked forward), by `naive`, `smoothing` and `boosted`, which looks at `features` → `policy` (how many
executors, and why) → `simulator` (a pipeline under a policy) → `optimum` (what would have been enough) → `contest`
(everyone against everyone, and who may act) and `what_if`.
"""
