"""Where files lie: in a folder of this machine, in a bucket, or on HDFS. All below a storage goes through this.

Read `location.py` for what can be done with a location, then `local.py`, `bucket.py` and `hdfs.py`, which do it, the
latter two by what they share in `remote.py`; `parquet.py` hands files to Arrow; `hadoop.py` says what Spark must know
to reach the same addresses.
"""
