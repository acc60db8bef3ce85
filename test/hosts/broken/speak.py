"""The protocol without sdd_overlay, and done right; each broken overlay beside it does one thing wrong."""
import json
import sys


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def passed(request):
    send(id=request["id"], result={"kind": "pass"})


def refused(request, why):
    send(id=request["id"], error={"code": -32000, "message": why})


def initialized(request, **parts):
    offered = request["params"]["protocol"]
    if not offered["min"] <= 1 <= offered["max"]:
        return refused(request, "this overlay speaks protocol 1")
    send(id=request["id"], result={"protocol": 1, "name": "broken", "hooks": ["after"], **parts})


def serve(judge=passed, initialize=initialized, hooks=("after",), unknown=None, shutdown=True):
    """Answers until shutdown, or until stdin is closed."""
    for line in sys.stdin:
        request = json.loads(line)
        method = request["method"]
        if method == "initialize":
            initialize(request)
        elif method == "shutdown" and shutdown:
            send(id=request["id"], result=None)
            return
        elif method in hooks:
            judge(request)
        elif "id" in request:
            (unknown or (lambda one: refused(one, f"unknown method {method}")))(request)
