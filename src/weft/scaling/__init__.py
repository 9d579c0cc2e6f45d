"""Keeping up: how many executors there should be, before it is too late. Values in, values out; no Spark, no HTTP.

`measured` (what workers say) → `history` (the load over time) and `arrivals` (what came, from a file) → `cost` (what a
record takes at the steps there are) → `timeline` (when it came, and what the calendar says) → `forecast` (what may
come: one protocol, walked forward), by `naive`, `smoothing` and `boosted`, which looks at `features` → `policy` (how
many executors, and why) → `simulator` (a pipeline under a policy) → `optimum` (what would have been enough) → `contest`
(everyone against everyone, and who may act), `pilot` (who acts now) and `what_if`.
"""
