#!/usr/bin/env python3
"""Prints the examples of presets whose flags the AWS CLI of this machine does not have: examples.py FILE

A command that this CLI does not know, since it is older than the presets, is left out.
"""
import gzip
import shlex
import sys

from awscli.clidriver import create_clidriver

services = create_clidriver()._get_command_table()
for line in gzip.open(sys.argv[1], "rt", encoding="utf8"):
    if line.startswith("example: "):
        _, service, command, *words = shlex.split(line.split(" -- ")[1])
        commands = services[service]._get_command_table() if service in services else {}
        given = {w[2:] for w in words if w.startswith("--")}
        if command in commands and (not given or given - commands[command].arg_table.keys()):
            print(line, end="")
