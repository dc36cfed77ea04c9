"""Runs scripts, JSON lines with "head", "tail" and maybe "seconds" on standard input, each in
a process of its own, and writes what each printed as a JSON string a line."""
import json
import sys

for line in sys.stdin:
    script = json.loads(line)

    def work():
        exec(compile(script["head"] + script["tail"], "script.py", "exec"), {"__name__": "__main__"})

    print(json.dumps(apart(script.get("seconds", 20), work)), flush=True)
