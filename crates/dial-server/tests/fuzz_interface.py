#!/usr/bin/env python3
"""Sends to a running server whatever its OpenAPI document allows, and what it does not (schemathesis).

    fuzz_interface.py DIAL [EXAMPLES]

No answer may be an error of the server, of a kind or shape that the document does not name, and nothing may get in without
the token. The stream of changes never ends and is left out.
"""
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,ignored_auth"


def plain(schema):
    """The same without tuples, which schemathesis 4.32 rewrites and then refuses in answers: as many of any of their members."""
    if isinstance(schema, list):
        return [plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: plain(inside) for name, inside in schema.items()}
    members = schema.pop("prefixItems", None)
    if members is not None:
        schema |= {"items": {"anyOf": members}, "minItems": len(members), "maxItems": len(members)}
    return schema


def main():
    dial, examples = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "15"
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "fuzz.dial"
        make = [dial, "new", "builtin:digits:200", "--project", project, "--quiet"]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        server = subprocess.Popen([dial, "serve", project, "--quiet"], stdout=subprocess.DEVNULL)
        try:
            file = project / "server.json"
            while not (file.exists() and file.read_text()):
                if server.poll() is not None:
                    sys.exit("the server did not start")
                time.sleep(0.1)
            found = json.loads(file.read_text())
            url = f"http://{found['address']}"
            token = f"Bearer {found['token']}"
            request = urllib.request.Request(f"{url}/api/v1/openapi.json", headers={"Authorization": token})
            document = Path(folder) / "openapi.json"
            with urllib.request.urlopen(request) as answer:
                document.write_text(json.dumps(plain(json.load(answer))))
            run = [Path(sys.executable).parent / "schemathesis", "run", document, "--url", url,
                   "-H", f"Authorization: {token}", "-H", f"X-Dial: {found['project']}", "--exclude-path", "/api/v1/changes",
                   "--max-examples", examples, "--checks", CHECKS, "--seed", "7", "--no-color"]
            status = subprocess.run(run).returncode
            if server.poll() is not None:
                sys.exit("the server did not survive")
        finally:
            server.terminate()
            ended = server.wait(60)
        sys.exit(status or ended)


if __name__ == "__main__":
    main()
