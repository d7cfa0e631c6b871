"""Schemathesis makes up requests from the OpenAPI documents of the designs: no answer may be a 5xx, or one that the document does not have."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from check import ENDPOINT, check, finish

DESIGNS = ["kefir", "stak-inbox", "story-hub", "story-nodes", "wavy-blog"]
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance"
# For each operation; SCHEMATHESIS_EXAMPLES=500 looks longer.
EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "12")
SCHEMATHESIS = Path(sys.executable).parent / "schemathesis"

for design in DESIGNS:

    @check(f"every answer of {design} is one that its OpenAPI document has")
    def _():
        user, password = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
        command = [SCHEMATHESIS, "run", f"{ENDPOINT}/v1/{design}/openapi.json", "--url", ENDPOINT, "--auth", f"{user}:{password}"]
        command += ["--checks", CHECKS, "--phases", "coverage,fuzzing", "--seed", "1", "--max-examples", EXAMPLES]
        command += ["--max-failures", "5", "--no-color", "--generation-database", "none"]
        # It keeps what it found beside it, and tries that first the next time; here every run is to be the same.
        with tempfile.TemporaryDirectory() as directory:
            outcome = subprocess.run(command, capture_output=True, text=True, timeout=3600, cwd=directory)
        assert outcome.returncode == 0, outcome.stdout[-6000:] + outcome.stderr[-2000:]


finish()
