"""On Spark: the session, the batch, and the worker that runs them."""
