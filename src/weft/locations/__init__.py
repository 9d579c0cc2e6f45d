"""Where files lie: in a folder of this machine, or in a bucket. Everything below a project's storage goes through this.

Read `location.py` for what can be done with a location, then `local.py` and `bucket.py`, which do it; `hadoop.py` says
what Spark must know to reach the same addresses.
"""
