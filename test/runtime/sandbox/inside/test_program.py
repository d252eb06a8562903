import os
import signal
import sys
import unittest

import running  # noqa: F401
from running import run, run_code, run_skill


class Entrypoints(unittest.TestCase):
    def test_receive_the_args_according_to_their_signature(self):
        for code, value in (
            ("def main(args): return args", {"a": 1}),
            ("def main(): return 0", 0),
            ("def main(args, more=2): return [args, more]", [{"a": 1}, 2]),
            ("def main(*args): return args", [{"a": 1}]),
            ("def main(args=None): return args", {"a": 1}),
            ("def main(*, a): return a", 1),
            ("def main(**named): return named", {"a": 1}),
            ("main = lambda args: args", {"a": 1}),
            ("main = dict", {"a": 1}),
            ("class Main:\n    def __call__(self, args): return args\nmain = Main()", {"a": 1}),
            ("class Main:\n    def go(self): return 5\nmain = Main().go", 5),
            ("import functools\nmain = functools.partial(lambda x, args: [x, args], 1)", [1, {"a": 1}]),
            (
                "import functools\ndef logged(f):\n    @functools.wraps(f)\n    def inner(*a, **k): return f(*a, **k)\n    return inner\n"
                "@logged\ndef main(): return 6",
                6,
            ),
        ):
            with self.subTest(code=code):
                self.assertEqual(run_code(code, args={"a": 1}).value, value)

    def test_that_are_async_or_generators_are_awaited(self):
        for code, value in (
            ("import asyncio\nasync def main(args):\n    await asyncio.sleep(0)\n    return args", {"a": 1}),
            ("def main():\n    yield 1\n    yield 2", [1, 2]),
            ("async def main():\n    yield 1\n    yield 2", [1, 2]),
            ("async def rest():\n    yield 3\nasync def main(): return rest()", [3]),
            ("class Later:\n    def __await__(self):\n        return 4\n        yield\ndef main(): return Later()", 4),
        ):
            with self.subTest(code=code):
                self.assertEqual(run_code(code, args={"a": 1}).value, value)

    def test_that_are_endless_generators_exceed_the_output_limit(self):
        error = run_code("def main():\n    while True: yield 1", result_bytes=1000).error
        self.assertEqual(error["type"], "OutputLimitError")

    def test_that_are_missing_or_not_callable_are_explained(self):
        for code, entrypoint, message in (
            ("def other(): pass\ndef _hidden(): pass", "main", "The code defines no function 'main'. It defines other."),
            ("", "main", "It defines no function."),
            ("main = 5", "main", "The code defines 'main', but of type int, not as a function."),
            ("def main(a, b): pass", "main", "main() requires a, b"),
            ("def main(): pass", "../../etc/passwd", "defines no function '../../etc/passwd'"),
        ):
            error = run_code(code, entrypoint=entrypoint).error
            self.assertEqual(error["type"], "EntrypointError")
            self.assertIn(message, error["message"])

    def test_of_skills_are_found_by_the_export_of_the_manifest(self):
        files = {"main.py": "async def sync(args): return {'summary': 'did it', 'output': args}\n"}
        ended = run_skill("a.b", {"n": 1}, skills={"a.b": (("main.py", "sync"), files)})
        self.assertEqual(ended.last, {"type": "returned", "value": {"n": 1}, "summary": "did it"})
        error = run_skill("a.b", skills={"a.b": (("main.py", "gone"), files)}).error
        self.assertEqual(error["type"], "EntrypointError")
        self.assertIn("/skills/a.b/main.py defines no function 'gone'. It defines sync.", error["message"])

    def test_are_not_called_twice_by_a_main_guard(self):
        code = "def main():\n    print('ran')\nif __name__ == '__main__':\n    main()"
        self.assertEqual(run_code(code).stdout, "ran\n")

    def test_can_import_their_own_module(self):
        code = "import dataclasses, pickle, __main__, sys\n@dataclasses.dataclass\nclass P:\n    x: int\ndef main(): return [pickle.loads(pickle.dumps(P(1))).x, __main__.P is P]"
        self.assertEqual(run_code(code).value, [1, True])


class Errors(unittest.TestCase):
    def test_show_only_frames_of_user_code(self):
        code = "import json\n\ndef main(args):\n    helper()\n\ndef helper():\n    json.loads('{')\n"
        error = run_code(code).error
        self.assertEqual(error["type"], "JSONDecodeError")
        self.assertEqual((error["details"]["file"], error["details"]["line"]), ("<run_code>", 7))
        self.assertEqual(
            error["details"]["traceback"],
            'Traceback (most recent call last):\n  File "<run_code>", line 4, in main\n    helper()\n'
            "  File \"<run_code>\", line 7, in helper\n    json.loads('{')\n"
            "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        )

    def test_of_syntax_state_the_line(self):
        error = run_code("x = 1\ndef main(:\n").error
        self.assertEqual((error["type"], error["details"]["line"]), ("SyntaxError", 2))
        self.assertIn("def main(:", error["details"]["traceback"])
        for code in ("\0", "x = (" * 500, "\t\n  x\n\ty"):
            self.assertIn(run_code(code).error["type"], ("SyntaxError", "ValueError", "IndentationError", "MemoryError"))

    def test_of_syntax_in_a_skill_state_its_file(self):
        skills = {"a": (("main.py", "main"), {"main.py": "import bad", "bad.py": "\n\n)"})}
        error = run_code("from skills.a import main", skills=skills).error
        self.assertEqual((error["details"]["file"], error["details"]["line"]), ("/skills/a/bad.py", 3))

    def test_include_their_cause(self):
        code = "def main():\n    try:\n        1 / 0\n    except Exception as error:\n        raise ValueError('second') from error"
        error = run_code(code).error
        self.assertIn("ZeroDivisionError", error["details"]["traceback"])
        self.assertIn("direct cause", error["details"]["traceback"])
        self.assertEqual(error["message"], "second")

    def test_of_every_kind_are_reported(self):
        for code, kind, message in (
            ("class E(BaseException): pass\ndef main(): raise E('low')", "E", "low"),
            ("class E(Exception):\n    def __str__(self): raise ValueError\ndef main(): raise E", "E", "(the message cannot be printed)"),
            ("class E(Exception):\n    def __str__(self): raise SystemExit\ndef main(): raise E", "E", "(the message cannot be printed)"),
            ("class E(Exception):\n    def __str__(self): return 5\ndef main(): raise E", "E", "(the message cannot be printed)"),
            ("class M(type):\n    __name__ = property(lambda self: 1 / 0)\nclass E(Exception, metaclass=M): pass\ndef main(): raise E('x')", "E", "x"),
            ("class E(Exception):\n    __cause__ = property(lambda self: 1 / 0)\ndef main(): raise E('x')", "E", "x"),
            ("def main(): raise KeyboardInterrupt", "KeyboardInterrupt", ""),
            ("def main(): raise MemoryError", "MemoryError", "Out of memory."),
            ("def main(): raise ValueError('\\ud800')", "ValueError", "\ufffd"),
            ("def main(): raise ValueError('x' * 100_000)", "ValueError", "x" * 4000 + "…"),
            ("def main(): raise SyntaxError", "SyntaxError", "None"),
            ("def main(): raise 5", "TypeError", "exceptions must derive from BaseException"),
            ("import asyncio\nasync def main(): raise asyncio.CancelledError", "CancelledError", ""),
        ):
            with self.subTest(code=code):
                error = run_code(code).error
                self.assertEqual((error["type"], error["message"]), (kind, message))

    def test_of_endless_recursion_have_a_short_traceback(self):
        error = run_code("def main(): return main()").error
        self.assertEqual(error["type"], "RecursionError")
        self.assertLess(len(error["details"]["traceback"]), 3000)
        self.assertIn(" more\n", error["details"]["traceback"])
        code = "import sys\nsys.setrecursionlimit(60)\ndef main(): return [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]"
        self.assertEqual(str(run_code(code).value).count("["), 20)

    @unittest.skipUnless(sys.platform == "linux", "limits of memory")
    def test_of_memory_are_reported_when_memory_is_exhausted(self):
        def confine(run):
            import resource

            resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

        for code in (
            "def main(): return len(bytes(1 << 40))",
            "kept = []\ndef main():\n    while True: kept.append(bytearray(10_000))",
        ):
            self.assertEqual(run_code(code, confine=confine).error["type"], "MemoryError")


class Ends(unittest.TestCase):
    def test_by_exit_with_zero_return_none(self):
        for code in ("import sys\ndef main(): sys.exit(0)", "def main(): raise SystemExit", "def main(): exit()"):
            ended = run_code("import sys\n" + code.replace("exit()", "sys.exit()"))
            self.assertEqual((ended.value, ended.status), (None, 0))

    def test_by_exit_with_another_value_are_failures(self):
        for code, message, exit_code in (("sys.exit(3)", "3", 3), ("sys.exit('no')", "no", None), ("sys.exit(False)", "False", 0)):
            error = run_code(f"import sys\ndef main(): {code}").error
            self.assertEqual((error["type"], error["message"]), ("SystemExit", message))
            self.assertEqual(error["details"].get("exit_code"), exit_code)

    def test_by_exit_before_the_entrypoint_are_failures(self):
        self.assertEqual(run_code("import sys\nsys.exit(0)\ndef main(): pass").error["type"], "SystemExit")

    def test_do_not_wait_for_threads(self):
        code = "import threading, time\ndef main():\n    threading.Thread(target=time.sleep, args=(600,)).start()\n    return 1"
        self.assertEqual(run_code(code).value, 1)

    def test_without_a_final_frame_have_no_result(self):
        self.assertEqual(run_code("import os\ndef main(): os._exit(0)").frames, [])
        ended = run_code("import os\ndef main(): os.closerange(3, 100)")
        self.assertEqual((ended.frames, os.WEXITSTATUS(ended.status)), ([], 1))
        self.assertEqual(ended.stderr, "")

    def test_of_a_forked_child_are_not_the_result(self):
        code = "import os\ndef main():\n    child = os.fork()\n    if child:\n        os.waitpid(child, 0)\n        return 'parent'\n    return 'child'"
        ended = run_code(code)
        self.assertEqual([frame["value"] for frame in ended.frames], ["parent"])

    def test_before_the_run_are_silent(self):
        self.assertEqual(running.run_program_without_run(), 0)


class Printing(unittest.TestCase):
    def test_on_both_streams_keeps_its_order(self):
        code = (
            "import sys, os\ndef main():\n    print('one')\n    print('two', file=sys.stderr)\n    print('three')\n"
            "    os.write(2, b'four\\n')\n    sys.stdout.write('five')"
        )
        ended = run_code(code)
        self.assertEqual((ended.stdout, ended.stderr), ("one\ntwo\nthree\nfour\nfive", ""))

    def test_of_any_text_works(self):
        self.assertEqual(run_code("def main(): print('ä💡\\ud800')").stdout, "ä💡\\ud800\n")

    def test_is_kept_when_the_program_fails(self):
        self.assertEqual(run_code("def main():\n    print('before', end='')\n    1 / 0").stdout, "before")

    def test_cannot_be_broken_by_replacing_streams(self):
        code = (
            "import sys, io\nclass Bad:\n    def write(self, text): pass\n    def flush(self): raise SystemExit\n"
            "def main():\n    print('kept', end='')\n    sys.%s = %s\n    return 1"
        )
        for name, value in (("stdout", "Bad()"), ("stderr", "None"), ("stdout", "io.StringIO()"), ("__stdout__", "5")):
            ended = run_code(code % (name, value))
            self.assertEqual((ended.value, ended.stdout), (1, "kept"))
        self.assertEqual(run_code("import sys\ndef main():\n    sys.stdout.close()\n    return 2").value, 2)


class Results(unittest.TestCase):
    def test_are_sent_even_if_builtins_were_replaced(self):
        code = (
            "import builtins, json, json.encoder, json.decoder, os, sys, time, io, linecache\n"
            "def main():\n"
            "    def broken(*args, **named): raise RuntimeError('replaced')\n"
            "    for name in ('encode', 'iterencode', 'default', '__init__'): setattr(json.JSONEncoder, name, broken)\n"
            "    for module in (json, json.encoder, json.decoder, time, io, linecache):\n"
            "        for name in dir(module):\n"
            "            if not name.startswith('__') and callable(getattr(module, name)): setattr(module, name, broken)\n"
            "    for name in ('write', 'read', 'getpid', 'fsencode'): setattr(os, name, broken)\n"
            "    for name in ('len', 'type', 'isinstance', 'dict', 'list', 'str', 'enumerate', 'open', 'print', '__import__', 'ValueError'):\n"
            "        setattr(builtins, name, broken)\n"
            "    %s"
        )
        self.assertEqual(run_code(code % "return {'a': [1, 2.5, 'x']}").value, {"a": [1, 2.5, "x"]})
        self.assertEqual(run_code(code % "raise KeyError('x')").error["type"], "KeyError")

    def test_that_are_not_json_state_the_path(self):
        error = run_code("def main(): return {'rows': [1, {'x': b''}]}").error
        self.assertEqual(error["type"], "OutputNotSerializableError")
        self.assertIn("output.rows[1].x", error["message"])

    def test_that_are_large_are_sent_up_to_the_limit(self):
        self.assertEqual(len(run_code("def main(): return 'x' * 4_000_000").value), 4_000_000)
        self.assertEqual(run_code("def main(): return 'x' * 5_000_000").error["type"], "OutputLimitError")


class Surroundings(unittest.TestCase):
    def test_are_the_documented_ones(self):
        code = (
            "import os, sys\n"
            "def main(): return [os.getcwd(), dict(os.environ), sys.argv, os.listdir('.'), sys.stdin.read(), sys.dont_write_bytecode]"
        )
        environment = {"PATH": "/usr/bin:/bin", "HOME": "/workspace", "LANG": "C.UTF-8"}
        self.assertEqual(run_code(code).value, ["/workspace", environment, ["<run_code>"], [], "", True])

    def test_are_set_up_before_confinement_and_confinement_before_user_code(self):
        def confine(run):
            print("confined", run["program"]["type"], os.path.basename(os.getcwd()), "run_code" in sys.modules)

        self.assertEqual(run_code("print('code')\ndef main(): pass", confine=confine).stdout, "confined code workspace False\ncode\n")

    def test_that_fail_to_set_up_run_no_user_code(self):
        def confine(run):
            raise OSError("no Landlock")

        ended = run_code("print('code')\ndef main(): pass", confine=confine)
        self.assertEqual((ended.frames, ended.stdout, os.WEXITSTATUS(ended.status)), ([], "OSError: no Landlock\n".join(("Starting the program failed: ", "")), 70))

    def test_contain_no_inherited_descriptors(self):
        code = "import os\ndef main(): return [fd for fd in range(256) if os.path.lexists('/dev/fd/%d' % fd)]"
        directory = os.open("/", os.O_RDONLY)
        try:
            os.dup2(directory, 200)
            held = run_code(code).value
        finally:
            os.close(directory)
            os.close(200)
        self.assertEqual((held[:3], len(held), 200 in held), ([0, 1, 2], 4, False))

    def test_have_default_signal_handlers(self):
        code = "import signal\ndef main(): return [signal.getsignal(s) in (signal.SIG_DFL, signal.default_int_handler) for s in (2, 15, 17)]"
        self.assertEqual(run_code(code).value, [True, True, True])
        self.assertEqual(run_code("import os\ndef main(): os.kill(os.getpid(), 15)").status, signal.SIGTERM)

    def test_reject_a_frame_that_is_not_a_run(self):
        ended = run({"type": "nonsense"})
        self.assertEqual((ended.frames, ended.status == 0), ([], False))


if __name__ == "__main__":
    unittest.main()
