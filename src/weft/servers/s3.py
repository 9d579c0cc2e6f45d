"""A server on loopback that speaks S3: a folder comes in, out come the address of a bucket in it and what its clients
must have in their environment."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import httpx

from weft.runtime import jars
from weft.servers.process import LOOPBACK, JavaServer, free_port

PROPERTIES = """\
s3proxy.endpoint=http://{host}:{port}
s3proxy.authorization=aws-v2-or-v4
s3proxy.identity={key}
s3proxy.credential={secret}
jclouds.provider=filesystem-nio2
jclouds.identity=none
jclouds.credential=none
jclouds.filesystem.basedir={folder}
"""
KEY, SECRET = "weft", "kept-from-nobody"
BUCKET = "weft"


class S3:
    """A server with one bucket, whose objects are files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        self.endpoint = f"http://{LOOPBACK}:{self._port}"
        self.java = JavaServer("s3", folder, classpath=jars.find("s3-server"), heap="256m")
        data = folder / "data"
        (data / BUCKET).mkdir(parents=True)
        self._properties = folder / "s3.properties"
        self._properties.write_text(
            PROPERTIES.format(host=LOOPBACK, port=self._port, key=KEY, secret=SECRET, folder=data)
        )

    @property
    def environment(self) -> dict[str, str]:
        """What clients of it find in their environment."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
        }

    def address(self, folder: str) -> str:
        """The address of a folder in its bucket."""
        return f"s3a://{BUCKET}/{folder}"

    def __enter__(self) -> Self:
        self.java.start_main("org.gaul.s3proxy.Main", "--properties", str(self._properties))
        self.java.wait_for(self._answers)
        return self

    def __exit__(self, *_: object) -> None:
        self.java.stop()

    def _answers(self) -> bool:
        try:
            httpx.get(self.endpoint, timeout=2, trust_env=False)
        except httpx.HTTPError:
            return False
        return True
