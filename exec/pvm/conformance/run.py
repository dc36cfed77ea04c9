"""Runs scripts, JSON lines with "head", "tail" and maybe "seconds" on standard input, each in
a process of its own, and writes what each printed as a JSON string a line."""
import json
import os
import signal
import sys

for line in sys.stdin:
    script = json.loads(line)
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        os.dup2(w, 1)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        signal.alarm(script.get("seconds", 20))
        try:
            exec(compile(script["head"] + script["tail"], "script.py", "exec"), {"__name__": "__main__"})
        except BaseException as error:
            print("!", type(error).__name__)
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.close(w)
    out = b""
    while chunk := os.read(r, 65536):
        out += chunk
    os.close(r)
    if os.WIFSIGNALED(os.waitpid(pid, 0)[1]):
        out += b"! killed\n"
    print(json.dumps(out.decode("utf-8", "replace")), flush=True)
