#!/usr/bin/env python3
"""Records what botocore's waiters say of documents: oracle.py DATA OUT

For each distinct condition of a waiter it makes 20 documents, and notes the verdict of all
acceptors of that waiter by jmespath. A test of package status compares the presets with it.
"""
import gzip
import json
import random
import sys

import jmespath

from generate import services

EACH = 20
MISSING = object()


def shape(node, into, literals):
    """Notes in the tree into which fields an expression reads, and returns its nodes that the value may be in."""
    kids = node["children"]
    match node["type"]:
        case "field":
            return [into.setdefault("fields", {}).setdefault(node["value"], {})]
        case "identity" | "current":
            return [into]
        case "literal":
            literals.append(node["value"])
            return []
        case "subexpression":
            found = [into]
            for kid in kids:
                found = [x for at in found for x in shape(kid, at, literals)]
            return found
        case "flatten":
            found = shape(kids[0], into, literals)
            for at in found:
                at["list"] = True
            return found
        case "projection" | "value_projection" | "filter_projection":
            found = shape(kids[0], into, literals)
            for at in found:
                at["map" if node["type"] == "value_projection" else "list"] = True
                for kid in kids[1:]:
                    shape(kid, at, literals)
            return [x for at in found for x in shape(kids[1], at, literals)]
        case "function_expression":
            for at in shape(kids[0], into, literals):
                at["sized"] = True
            return []
    both = len([k for k in kids if k["type"] == "field"]) == 2
    for kid in kids:
        for at in shape(kid, into, literals):
            at["number"] = both
    return []


def make(tree, values, rng, top=True):
    """Returns a random document for a tree."""
    if not top and rng.random() < 0.06:
        return rng.choice([None, MISSING, "other", 7, [], {}])
    if tree.get("list") and not tree.get("inside"):
        inner = dict(tree, inside=True)
        return [v for v in (make(inner, values, rng) for _ in range(rng.randrange(4))) if v is not MISSING]
    if tree.get("map") and not tree.get("inside"):
        inner = dict(tree, inside=True)
        return {"k%d" % i: make(inner, values, rng) for i in range(rng.randrange(4))}
    if tree.get("fields"):
        made = ((k, make(v, values, rng, False)) for k, v in tree["fields"].items())
        return {k: v for k, v in made if v is not MISSING}
    if tree.get("sized"):
        return rng.choice(["", "text", [], [{}], [{}, {"a": 1}], [{}, {}, {}]])
    if tree.get("number"):
        return rng.randrange(3)
    if rng.random() < 0.5:
        return values[0]
    return rng.choice([*values, "another", None, 0, True])


def matches(acceptor, document):
    """Reports whether an acceptor is for a good answer with a document, as botocore says it."""
    expected = acceptor["expected"]
    if acceptor["matcher"] == "status":
        return expected == 200
    if acceptor["matcher"] == "error":
        return expected is False
    try:
        result = jmespath.search(acceptor["argument"], document)
    except jmespath.exceptions.JMESPathError:
        return False
    if acceptor["matcher"] == "path":
        return result == expected
    if not isinstance(result, list) or not result:
        return False
    return (all if acceptor["matcher"] == "pathAll" else any)(r == expected for r in result)


def verdict(acceptors, document):
    for a in acceptors:
        if matches(a, document):
            return {"success": "SUCCESS", "failure": "ERROR", "retry": "NOT_READY"}[a["state"]]
    return "NOT_READY"


def records(data):
    seen, rng = set(), random.Random(1)
    for service, _, waiters in services(data):
        for name, waiter in waiters.items():
            acceptors = waiter["acceptors"]
            values = [a["expected"] for a in acceptors if a["matcher"].startswith("path")]
            for a in acceptors:
                key = (a["matcher"], a.get("argument"), a["expected"])
                if not a["matcher"].startswith("path") or key in seen:
                    continue
                seen.add(key)
                tree, literals = {}, []
                for other in acceptors:
                    if other["matcher"].startswith("path"):
                        shape(jmespath.compile(other["argument"]).parsed, tree, literals)
                own = [a["expected"], *literals, *values] if isinstance(a["expected"], str) else [*literals, *values]
                for _ in range(EACH):
                    document = make(tree, own, rng)
                    yield {"waiter": service + "/" + name, "want": verdict(acceptors, document), "document": document}


def main(data, out):
    lines = [json.dumps(r, separators=(",", ":")) for r in records(data)]
    with open(out, "wb") as f:
        f.write(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))
    print(len(lines), "documents")


if __name__ == "__main__":
    main(*sys.argv[1:])
