"""What Spark must know to reach the same addresses through Hadoop. Called by whoever starts a session for a storage.

Keys are not among it: Spark takes them from the environment by itself, and its executors get theirs here.
"""

from __future__ import annotations

import os

from weft.locations.bucket import ENDPOINTS, SCHEME, find_endpoint

KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
ANY_REGION = "us-east-1"
"""What servers other than AWS's own are told, which do not care."""


def is_bucket(address: str) -> bool:
    """Whether an address needs Hadoop's client for S3, which PySpark does not have."""
    return address.startswith(SCHEME)


def settings_for(address: str) -> dict[str, str]:
    """Settings of a Spark session that uses a storage."""
    if not is_bucket(address):
        return {}
    endpoint = find_endpoint()
    region = next((os.environ[name] for name in REGIONS if os.environ.get(name)), None)
    told = {name: os.environ.get(name) for name in (*KEYS, *REGIONS, *ENDPOINTS)}
    return {
        # Names are never used twice, so nobody need look what was there before.
        "spark.hadoop.fs.s3a.performance.flags": "create,delete,mkdir",
        # Each look for new records is a request.
        "spark.sql.streaming.pollingDelay": "100ms",
        **(
            {"spark.hadoop.fs.s3a.endpoint.region": region or ANY_REGION}
            if region or endpoint
            else {}
        ),
        **(
            {
                "spark.hadoop.fs.s3a.endpoint": endpoint,
                "spark.hadoop.fs.s3a.path.style.access": "true",
            }
            if endpoint
            else {}
        ),
        # Python on executors opens the same addresses by itself.
        **{f"spark.executorEnv.{name}": value for name, value in told.items() if value},
    }
