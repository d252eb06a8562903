import os
import unittest

import running  # noqa: F401
from running import run_script


def script(text, file="scripts/it.py", files=None, **options):
    return run_script("words", file, skills={"words": (None, {file: text, **(files or {})})}, **options)


class Python(unittest.TestCase):
    def test_scripts_get_arguments_stdin_and_sibling_modules(self):
        text = (
            "import beside, os, sys\nfrom pathlib import Path\n"
            "print(sys.argv, os.getcwd(), beside.value, __name__, __file__, Path(__file__).with_name('beside.py').exists())\n"
            "print(len(sys.stdin.read()), file=sys.stderr)\nopen('/output/made', 'w').write('made')\nsys.exit(3)"
        )
        argv = ["--in", "x y", "", "*", "line\nbreak", "ä"]
        stdin = "from outside\n" * 10_000
        ended = script(text, files={"scripts/beside.py": "value = 7"}, argv=argv, stdin=stdin)
        file = "/skills/words/scripts/it.py"
        self.assertEqual(ended.stdout, f"{[file, *argv]} /workspace 7 __main__ {file} True\n")
        self.assertEqual((ended.stderr, os.WEXITSTATUS(ended.status)), (f"{len(stdin)}\n", 3))
        self.assertEqual((ended.frames, ended.output), ([], {"made": b"made"}))

    def test_scripts_exit_like_the_interpreter(self):
        for text, status, stderr in (
            ("", 0, ""),
            ("import sys; sys.exit()", 0, ""),
            ("import sys; sys.exit(300)", 44, ""),
            ("import sys; sys.exit('no')", 1, "no\n"),
            ("import os; os._exit(9)", 9, ""),
            ("def f():\n    raise ValueError('no')\nf()", 1, "ValueError: no\n"),
            ("x = (", 1, "SyntaxError: "),
            ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
            ("import sys\nsys.excepthook = lambda *a: print('hooked', file=sys.stderr)\n1 / 0", 1, "hooked\n"),
        ):
            with self.subTest(text=text):
                ended = script(text)
                self.assertEqual(os.WEXITSTATUS(ended.status), status)
                self.assertIn(stderr, ended.stderr)
                self.assertNotIn("src/runtime/sandbox/inside", ended.stderr)
        self.assertEqual(script("import os; os.kill(os.getpid(), 9)").status, 9)

    def test_scripts_have_source_lines_in_tracebacks(self):
        stderr = script("def f():\n    raise ValueError('no')\nf()").stderr
        self.assertTrue(stderr.startswith('Traceback (most recent call last):\n  File "/skills/words/scripts/it.py", line 3, in <module>\n'))

    def test_scripts_wait_for_threads_and_exit_handlers(self):
        text = (
            "import atexit, threading, time\natexit.register(print, 'last')\nprinted = threading.Event()\n"
            "threading.Thread(target=lambda: (printed.wait(), time.sleep(0.05), print('thread'))).start()\n"
            "print('main', end=' ')\nprinted.set()"
        )
        self.assertEqual(script(text).stdout, "main thread\nlast\n")

    def test_scripts_without_input_have_empty_stdin(self):
        self.assertEqual(script("import sys; print(repr(sys.stdin.read()))").stdout, "''\n")

    def test_scripts_have_secrets_in_their_environment(self):
        text = "import os; print(os.environ['KEY'], os.environ['HOME'], sorted(n for n in os.environ if n.startswith('PYTHON')))"
        self.assertEqual(script(text, secrets={"KEY": "value", "HOME": "elsewhere"}).stdout, "value /workspace []\n")

    def test_scripts_leave_no_stdin_file_behind(self):
        self.assertEqual(script("import os; print(os.listdir('/tmp'))", stdin="x").stdout, "[]\n")

    def test_scripts_may_import_modules_with_names_of_internal_ones(self):
        ended = script("import result, calls; print(result.x, calls.x)", files={"scripts/result.py": "x = 1", "scripts/calls.py": "x = 2"})
        self.assertEqual(ended.stdout, "1 2\n")


class Others(unittest.TestCase):
    def test_are_refused_where_paths_are_mapped(self):
        ended = script("echo no", file="it.sh", language="bash")
        self.assertEqual((ended.stdout, os.WEXITSTATUS(ended.status)), ("", 70))
        self.assertIn("bash cannot use /skills", ended.stderr)


if __name__ == "__main__":
    unittest.main()
