#!/usr/bin/env python3
"""Makes presets of the waiters of AWS: generate.py DATA OUT

DATA is the folder botocore/data of https://github.com/boto/botocore (Apache-2.0), OUT the file that
package status embeds. Of each service the newest version counts. It needs jmespath.
"""
import gzip
import glob
import json
import os
import re
import sys

import jmespath

NOTICE = """\
# The waiters of AWS, made by scripts/aws-waiters from botocore {version}.
# Copyright Amazon.com, Inc. or its affiliates. Licensed under the Apache License, Version 2.0:
# https://www.apache.org/licenses/LICENSE-2.0
"""

# Names of services in the AWS CLI that differ from those of botocore.
CLI_NAMES = {"config": "configservice", "codedeploy": "deploy", "s3": "s3api"}
NAME = "--filter-variable Name --eq NAME"
# Flags that name a thing, of operations (or of one waiter) where no single flag does.
FLAGS = {
    "CompositeAlarmExists": "--alarm-names NAME --alarm-types CompositeAlarm",
    "LogAlarmExists": "--alarm-names NAME --alarm-types LogAlarm",
    "DescribeConnections": "--filters Name=endpoint-arn,Values=ARN Name=replication-instance-arn,Values=ARN",
    "DescribeEndpoints": "--filters Name=endpoint-id,Values=ID",
    "DescribeReplicationInstances": "--filters Name=replication-instance-id,Values=ID",
    "DescribeReplicationTasks": "--filters Name=replication-task-id,Values=ID",
    "DescribeSecurityGroupVpcAssociations": "--filters Name=group-id,Values=ID Name=vpc-id,Values=ID",
    "DescribeTenantDatabases": "--db-instance-identifier IDENTIFIER --tenant-db-name NAME",
    "ListConnectors": "--filter-criteria 'connectorArns=[{comparison=EQUALS,value=ARN}]'",
    **dict.fromkeys(["Describe" + m for m in ["BatchPredictions", "DataSources", "Evaluations", "MLModels"]], NAME),
}
RULES = {"failure": "error-if", "success": "until", "retry": "not-ready-if"}
# Errors that pass. Any other that no acceptor names ends a waiter.
PASSING = r"\\((\\w*(Throttl|LimitExceeded|TooManyRequests|SlowDown|Unavailable|Internal|Timeout)\\w*|5\\d\\d)\\)"


def kebab(name):
    """Returns a name of the API as the AWS CLI writes it."""
    name = re.sub(r"([A-Z]+)s$", lambda m: m[1].capitalize() + "s", name) if re.search(r"[A-Z]{2,}s$", name) else name
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1-\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name).lower()


def quoted(value):
    return json.dumps(value)


def path(node):
    """Returns a path, with [] where elements of a list are meant."""
    kids = node["children"]
    match node["type"]:
        case "identity":
            return ""
        case "field":
            return "." + node["value"]
        case "subexpression":
            return "".join(map(path, kids))
        case "flatten":
            return path(kids[0])
        case "projection" | "value_projection":
            return path(kids[0]) + "[]" + path(kids[1])
    raise ValueError("a path has " + node["type"])


def has_elements(node):
    return "projection" in node["type"] or any(has_elements(k) for k in node["children"] if isinstance(k, dict))


def elements(node):
    """Returns the path of a list, and that of what is asked for within an element."""
    head, sign, rest = path(node).rpartition("[]")
    return (head + sign, rest) if sign else (rest + "[]", "")


def both_lengths(node):
    """Returns the list and the condition of length(A[?condition]) == length(A); None for another node."""
    if node["type"] != "comparator" or [k["type"] for k in node["children"]] != ["function_expression"] * 2:
        return None
    part, whole = (k["children"][0] for k in node["children"])
    if part["type"] == "filter_projection" and part["children"][0] == whole:
        return path(whole) + "[]", condition(part["children"][2])
    return None


def condition(node):
    """Returns a condition for an expression that is true or false."""
    kids = node["children"]
    match node["type"]:
        case "and_expression":
            return " and ".join(map(condition, kids))
        case "or_expression":
            return " or ".join(map(condition, kids))
        case "not_expression":
            return "not (" + condition(kids[0]) + ")"
    if all_of := both_lengths(node):
        return "all(%s; %s)" % all_of
    if node["type"] != "comparator":
        return path(node)
    left, right = kids
    operator = {"eq": "==", "ne": "!=", "gt": ">", "lt": "<", "gte": ">=", "lte": "<="}[node["value"]]
    if operator == "!=" and right["type"] == "literal":  # in JMESPath it is true of null
        return "(%s // null) != %s" % (path(left), quoted(right["value"]))
    if left["type"] != "function_expression":
        return "%s %s %s" % (path(left), operator, quoted(right["value"]) if right["type"] == "literal" else path(right))
    within, bound = left["children"][0], right["value"]
    if within["type"] == "filter_projection" and (operator, bound) == ("==", 0):
        inner = within["children"][2]
        kept = condition(inner["children"][0]) if inner["type"] == "not_expression" else "not (%s)" % condition(inner)
        items = path(within["children"][0]) + "[]"
        return "any(%s; true) and all(%s; %s)" % (items, items, kept)
    if has_elements(within) and (operator, bound) == (">", 0):
        items, rest = elements(within)
        return "any(%s; %s)" % (items, rest + " != null" if rest else ". != []")
    if (operator, bound) == ("==", 0):
        return path(within).removesuffix("[]") + " == []"
    return "(%s | length) %s %d" % (path(within), operator, bound)


def equals(left, values):
    if len(values) == 1:
        return "%s == %s" % (left, quoted(values[0]))
    return "%s in [%s]" % (left, ", ".join(map(quoted, values)))


def may_lack(condition):
    """Returns a comparison of a path that is false, and not unknown, where there is no such thing."""
    return re.sub(r"^(\.\w+) (==|in) ", r"(\1 // null) \2 ", condition)


def of_document(matcher, argument, values):
    """Returns the condition of one of the path matchers, for any of values."""
    node = jmespath.compile(argument).parsed
    if matcher == "path":
        if isinstance(values[0], bool) and node["type"] != "field" and node["type"] != "subexpression":
            return condition(node) if values[0] else "not (%s)" % condition(node)
        return equals(path(node), values)
    items, rest = elements(node)
    if matcher == "pathAny":
        return "any(%s; %s)" % (items, equals(rest or ".", values))
    return "any(%s; true) and all(%s; %s)" % (items, items, equals(rest or ".", values))


def of_error(expected, also):
    if expected is True:
        return ["$exit != 0"]
    if expected is False:
        return ["$exit == 0" + also, "$status >= 200 and $status < 300" + also]
    return ["$exit != 0 and $stderr contains " + quoted("(%s)" % expected)]


def of_status(expected, also):
    if expected < 300:
        return ["$exit == 0" + also, "$status == %d%s" % (expected, also)]
    return ["$exit != 0 and $stderr contains " + quoted("(%d)" % expected), "$status == %d" % expected]


def rules(acceptors, listed):
    """Yields the rules of a waiter. Acceptors that differ only in what they expect are one; of
    pathAll each is its own. If the answer is a list, that the request succeeded is no success of
    an empty one."""
    grouped = {}
    for a in acceptors:
        key = (a["state"], a["matcher"], a.get("argument"))
        if a["matcher"] in ("error", "status", "pathAll"):
            key += (a["expected"],)
        grouped.setdefault(key, []).append(a["expected"])
    done = []
    for (state, matcher, argument, *_), values in grouped.items():
        also = " and any(.%s[]; true)" % listed if listed and state == "success" else ""
        if matcher == "error":
            conditions = of_error(values[0], also)
        elif matcher == "status":
            conditions = of_status(values[0], also)
        else:
            conditions = [of_document(matcher, argument, values)]
            if state == "failure" and values == [True]:  # an earlier acceptor comes first
                conditions = [" and ".join(conditions + ["not (%s)" % may_lack(c) for c in done])]
            done += conditions if state == "success" else []
        for c in conditions:
            yield RULES[state], c


def other_errors(acceptors):
    """Returns the rule for an error that no acceptor names."""
    known = [a["expected"] for a in acceptors if a["matcher"] in ("error", "status")]
    if True in known:
        return None
    c = '$exit != 0 and $stderr contains "An error occurred (" and $stderr !~ "%s"' % PASSING
    codes = [str(k) for k in known if k is not False]
    if codes:
        c += ' and $stderr !~ "\\\\((%s)\\\\)"' % "|".join(code.replace(".", r"\\.") for code in codes)
    return c + " -- an error that this waiter does not expect"


def stanza(service, name, waiter, model):
    yield "name: aws:%s/%s" % (service, name)
    yield "api: AWS %s, %s" % (service, waiter["operation"])
    command = " ".join(["aws", CLI_NAMES.get(service, service), kebab(waiter["operation"]), flags(name, waiter["operation"], model)])
    yield "example: poll --preset aws:%s/%s -- %s" % (service, name, command)
    yield "interval: %ds" % waiter["delay"]
    yield "timeout: %ds" % (waiter["delay"] * waiter["maxAttempts"])
    acceptors = waiter["acceptors"]
    if not any(a["state"] == "failure" for a in acceptors):
        yield "note: AWS names no failed state here: without --error-if a failure is only noticed by the timeout"
    order = list(RULES.values())
    listed = resource_list(waiter["operation"], model)
    yield from sorted(("%s: %s" % rule for rule in rules(acceptors, listed)), key=lambda line: order.index(line.split(":")[0]))
    if rule := other_errors(acceptors):
        yield "error-if: " + rule


def members(operation, side, model):
    """Returns the members of what an operation takes or gives, and the names of those it requires."""
    shape = model["shapes"].get(model["operations"][operation].get(side, {}).get("shape"), {})
    return shape.get("members", {}), shape.get("required", [])


def flags(name, operation, model):
    """Returns the flags that the AWS CLI requires for an operation, with names for values. Without
    any it is the flag that says which thing: all that an account has would be no example."""
    optional, required = members(operation, "input", model)
    if not required:
        if found := FLAGS.get(name) or FLAGS.get(operation):
            return found
        named = [m for m in optional if re.search("(Id|Name|Identifier|A(rn|RN))s?$", m)]
        own = [m for m in named if operation.removesuffix("s").endswith(re.sub("(Id|Name|Identifier|Arn)s?$", "", m))]
        required = (own or named)[:1]
    words = [(kebab(n), re.sub("(id|name|arn)s$", r"\1", kebab(n).rsplit("-", 1)[-1]).upper()) for n in required]
    return " ".join("--%s %s" % word for word in words)


def resource_list(operation, model):
    """Returns the member of an answer that is the list which an operation describes, or None."""
    resource = operation.removeprefix("Describe")
    found = members(operation, "output", model)[0].get(resource)
    return resource if found and model["shapes"][found["shape"]]["type"] == "list" else None


def read(file):
    with (gzip.open if file.endswith(".gz") else open)(file) as f:
        return json.load(f)


def services(data):
    """Yields the name, the folder and the waiters of each service, in its newest version."""
    for service in sorted(os.listdir(data)):
        files = sorted(glob.glob(os.path.join(data, service, "*", "waiters-2.json*")))
        if files:
            yield service, os.path.dirname(files[-1]), read(files[-1])["waiters"]


def main(data, out):
    version = "?"
    for line in open(os.path.join(data, "..", "__init__.py"), encoding="utf8"):
        if line.startswith("__version__"):
            version = line.split("'")[1]
    text = NOTICE.format(version=version)
    for service, folder, waiters in services(data):
        model = read(glob.glob(folder + "/service-2.json*")[0])
        for name, waiter in waiters.items():
            lines = stanza(service, name, waiter, model)
            text += "\n" + "\n".join(lines) + "\n"
    with open(out, "wb") as f:
        f.write(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
