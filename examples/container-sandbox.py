"""The first process of the container: starts the program as its child, and passes on what that leaves in /output."""

import base64
import contextlib
import json
import os
import signal
import sys
import time
import traceback
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType

LONGEST_CHUNK = 49_152


def main():
    if os.getpid() != 1:
        raise SystemExit("This has to be the first process of a container, because it ends all others.")
    run = json.loads(sys.stdin.readline())
    child = os.fork()
    if child == 0:
        os._exit(Program(run).execute())
    deadline = time.monotonic() + run["timeout_ms"] / 1000
    pid, status = 0, 0
    while pid == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
        pid, status = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    for root, _, names in os.walk("/output"):
        for name in names:
            send_file(os.path.join(root, name))
    end = {"timeout": True} if pid == 0 else {"status": os.waitstatus_to_exitcode(status)}
    send(1, {"end": end})


def send(descriptor, message):
    line = (json.dumps(message, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "replace")
    while line:
        line = line[os.write(descriptor, line) :]


def send_file(path):
    if os.path.islink(path) or not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        left = os.fstat(file.fileno()).st_size
        send(1, {"output": os.path.relpath(path, "/output"), "size": left})
        while left > 0:
            chunk = file.read(min(left, LONGEST_CHUNK))
            left -= len(chunk)
            send(1, {"chunk": base64.b64encode(chunk).decode()})


class Program:
    """The child: everything after this is under the control of the skill."""

    def __init__(self, run):
        self.run = run
        # What the program prints goes to stderr; stdout belongs to the messages.
        self.messages = os.dup(1)
        os.dup2(2, 1)

    def execute(self):
        program = self.run["program"]
        if program["type"] == "script":
            path = f"/skills/{program['skill']}/{program['file']}"
            command = {"python": "python3", "bash": "bash"}[program["language"]]
            os.execvpe(command, [command, path, *program["argv"]], {**os.environ, **self.run["secrets"]})
        try:
            self.install_runtime()
            sys.meta_path.append(Skills(self.run["skills"]))
            value = self.call(self.find_entry(program), program["args"])
            send(self.messages, {"value": value})
        except BaseException as error:
            where = "".join(traceback.format_exception(error))[-4000:]
            about = {"type": type(error).__name__, "message": str(error), "details": {"traceback": where}}
            send(self.messages, {"error": about})
        sys.stdout.flush()
        sys.stderr.flush()
        return 0

    def find_entry(self, program):
        if program["type"] == "code":
            namespace = {"__name__": "__run__"}
            exec(compile(program["code"], "code.py", "exec"), namespace)
            return namespace[program["entrypoint"]]
        skill = next(one for one in self.run["skills"] if one["name"] == program["skill"])
        return load(f"skills.{program['skill']}", skill).__dict__[skill["entry"]["export"]]

    def call(self, function, args):
        takes = function.__code__.co_argcount if hasattr(function, "__code__") else 1
        return function(args) if takes else function()

    def ask(self, message):
        send(self.messages, message)
        answer = json.loads(sys.stdin.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    def install_runtime(self):
        runtime = ModuleType("runtime")
        runtime.args = self.run["program"].get("args")
        runtime.run_id = self.run["run_id"]
        runtime.secret = lambda name: self.run["secrets"][name]
        runtime.skill = lambda name: lambda args: self.ask({"call": name, "args": args})
        runtime.blobs = ModuleType("runtime.blobs")
        runtime.blobs.path = lambda blob: f"/blobs/{blob.removeprefix('blob:')}"
        runtime.blobs.read_text = lambda blob: open(runtime.blobs.path(blob), encoding="utf-8").read()
        runtime.blobs.create = self.create_blob
        sys.modules["runtime"] = runtime
        __builtins__.runtime = runtime

    def create_blob(self, content, kind="text/plain"):
        content = content.encode() if isinstance(content, str) else content
        return self.ask({"blob": base64.b64encode(content).decode(), "kind": kind})


def load(name, skill):
    path = f"/skills/{skill['name']}/{skill['entry']['file']}"
    sys.path.insert(0, os.path.dirname(path))
    module = ModuleType(name)
    SourceFileLoader(name, path).exec_module(module)
    return module


class Skills:
    """Imports `skills.rows.clean` as the entry of the skill `rows.clean`."""

    def __init__(self, skills):
        self.skills = {"skills." + one["name"].replace("-", "_"): one for one in skills if "entry" in one}

    def find_spec(self, name, path=None, target=None):
        if name in self.skills:
            return ModuleSpec(name, self, is_package=True)
        if any(full.startswith(name + ".") for full in self.skills):
            return ModuleSpec(name, None, is_package=True)
        return None

    def create_module(self, spec):
        return load(spec.name, self.skills[spec.name])

    def exec_module(self, module):
        pass


if __name__ == "__main__":
    main()
