#!/usr/bin/env python3
"""A minute of fifty people: how long does a label take to be safe, and the next item to come, while the model runs?

    python3 bench/load.py --dial target/release/dial [--people 50] [--rate 25] [--seconds 60]

Makes a project, serves it, signs in so many browsers, and lets each of them ask, wait and answer so that together they send
`rate` labels a second. Answers are the known labels of the pool. Prints the latencies as a table and as JSON. Standard library only.
"""
import argparse
import hashlib
import hmac
import http.client
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path


class Browser:
    """One signed-in browser with its own connection."""

    def __init__(self, address, link):
        self.host = address
        self.connection = http.client.HTTPConnection(address, timeout=60)
        self.connection.request("GET", "/hello")
        self.hello = json.loads(self.connection.getresponse().read())
        body = json.dumps({"code": link.split("#launch=", 1)[1]})
        self.connection.request("POST", "/sign-in", body, {"content-type": "application/json"})
        self.session = json.loads(self.connection.getresponse().read())

    def post(self, path, body):
        start = time.perf_counter()
        text, nonce = json.dumps(body), uuid.uuid4().hex
        hashed = hashlib.sha256(text.encode()).hexdigest()
        signed = "\n".join(["dial request", self.hello["run"], self.host, "POST", path, nonce, hashed])
        signature = hmac.new(self.session["key"].encode(), signed.encode(), "sha256").hexdigest()
        headers = {
            "authorization": f"Dial {self.session['session']}.{nonce}.{hashed}.{signature}",
            "x-dial": self.hello["project"],
            "x-dial-place": self.hello["place"],
            "content-type": "application/json",
        }
        self.connection.request("POST", path, text, headers)
        answer = self.connection.getresponse()
        data = answer.read()
        return answer.status, json.loads(data), time.perf_counter() - start


def owner(server, method, path, body=None):
    connection = http.client.HTTPConnection(server["address"], timeout=60)
    headers = {"authorization": f"Bearer {server['token']}", "x-dial": server["project"], "content-type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    return json.loads(answer.read())


def person(number, browser, end, pause, stats, lock):
    random.seed(number)
    time.sleep(random.random() * pause)
    count = 0
    while time.monotonic() < end:
        began = time.monotonic()
        status, asked, took = browser.post("/api/v1/next", {"annotator": f"p{number}"})
        with lock:
            stats["next"].append(took)
            stats["status"][status] = stats["status"].get(status, 0) + 1
        if status == 200 and asked["items"]:
            item = asked["items"][0]["id"]
            count += 1
            body = {"key": f"{number}-{count}", "annotator": f"p{number}",
                    "decisions": [{"kind": "label", "item": item, "classes": [{"class": random.randrange(10)}]}]}
            status, stored, took = browser.post("/api/v1/decisions", body)
            with lock:
                stats["label"].append(took)
                stats["status"][status] = stats["status"].get(status, 0) + 1
                stats["acked"] += status == 200
        time.sleep(max(0.0, pause - (time.monotonic() - began)))


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--dial", default="target/release/dial")
    arguments.add_argument("--pool", default="builtin:digits")
    arguments.add_argument("--people", type=int, default=50)
    arguments.add_argument("--rate", type=float, default=25.0)
    arguments.add_argument("--seconds", type=float, default=60.0)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "load.dial"
        classes = ",".join(str(digit) for digit in range(10))
        subprocess.run([given.dial, "new", given.pool, "--project", project, "--classes", classes, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        server = subprocess.Popen([given.dial, "serve", project, "--quiet"], stdout=subprocess.DEVNULL)
        try:
            file = project / "server.json"
            for _ in range(600):
                if file.exists() and file.read_text():
                    break
                time.sleep(0.1)
            address = json.loads(file.read_text())
            browsers = [Browser(address["address"], owner(address, "POST", "/api/v1/launch", {})) for _ in range(given.people)]
            stats, lock = {"next": [], "label": [], "status": {}, "acked": 0}, threading.Lock()
            end, pause = time.monotonic() + given.seconds, given.people / given.rate
            threads = [threading.Thread(target=person, args=(number, browser, end, pause, stats, lock))
                       for number, browser in enumerate(browsers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            about = owner(address, "GET", "/api/v1/project")
        finally:
            server.terminate()
            server.wait(30)
        result = {"people": given.people, "seconds": given.seconds, "labels_per_second": stats["acked"] / given.seconds,
                  "status": stats["status"], "acknowledged": stats["acked"], "stored": sum(about["annotators"].values()),
                  "model_behind": about["version"] - about["model_version"]}
        for name in ("label", "next"):
            result[name] = {f"p{share}": round(1000 * percentile(stats[name], share / 100), 1) for share in (50, 99, 99.9)}
        print(f"{'milliseconds':<14}{'p50':>8}{'p99':>8}{'p99.9':>8}")
        for name in ("label", "next"):
            print(f"{name:<14}" + "".join(f"{result[name][f'p{share}']:>8}" for share in (50, 99, 99.9)))
        print(json.dumps(result))
        if stats["acked"] != result["stored"]:
            sys.exit(f"acknowledged {stats['acked']}, stored {result['stored']}")


if __name__ == "__main__":
    main()
