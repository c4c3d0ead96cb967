"""A real S3 server in a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

START_SECONDS = 120


@dataclass(frozen=True)
class S3Server:
    """A running server: the environment of its clients, and its process."""

    environment: dict[str, str]
    process: subprocess.Popen[bytes]


@contextmanager
def s3_server(bucket: str) -> Iterator[S3Server]:
    """Run a server that has one bucket."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            environment = {
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_REGION": "us-east-1",
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            }
            _make_bucket(environment, bucket, process)
            yield S3Server(environment, process)
        finally:
            process.kill()


def _make_bucket(environment: dict[str, str], bucket: str, process: subprocess.Popen[bytes]) -> None:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import EndpointConnectionError

    client = boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        region_name=environment["AWS_REGION"],
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}),
    )
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            client.create_bucket(Bucket=bucket)
            return
        except EndpointConnectionError:
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server does not answer"
