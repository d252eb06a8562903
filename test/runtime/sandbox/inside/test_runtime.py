import struct
import unittest

import running  # noqa: F401
from running import run_code, run_skill

BLOBS = {"blob:a.b-c_1": ("text/plain", "erste Zeile ä\r\nzweite\n".encode()), "blob:raw": ("image/png", b"\x89\0\xff")}


def run(body, **options):
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return run_code(f"def main(args):\n{lines}", **options)


class Runtime(unittest.TestCase):
    def test_is_a_module_and_a_global_with_data_of_the_run(self):
        body = "import runtime as module, time\nreturn [module is runtime, runtime.args, runtime.run_id, 0 < runtime.deadline - time.time() <= 30]"
        self.assertEqual(run(body, args={"n": 1}).value, [True, {"n": 1}, "run_0123456789", True])

    def test_has_only_documented_attributes(self):
        names = run("return sorted(name for name in vars(runtime) if not name.startswith('__'))").value
        documented = "BlobError FetchError SecretError SkillError args blobs deadline fetch result run_id secret skill"
        self.assertEqual(names, documented.split())

    def test_is_available_to_skills(self):
        skills = {"a": (("main.py", "main"), {"main.py": "def main(args): return [runtime.run_id, args]"})}
        self.assertEqual(run_skill("a", {"n": 1}, skills=skills).value, ["run_0123456789", {"n": 1}])

    def test_creates_envelopes(self):
        for body, sent in (
            ("runtime.result({'n': 1}, 'one', ['blob:a'])", {"value": {"n": 1}, "summary": "one", "output_blobs": ["blob:a"]}),
            ("runtime.result(summary='only')", {"value": None, "summary": "only"}),
            ("runtime.result(5)", {"value": 5}),
        ):
            self.assertEqual(run(f"return {body}").last, {"type": "returned", **sent})
        self.assertEqual(run("return runtime.result(1, summary=2)").error["type"], "TypeError")


class Blobs(unittest.TestCase):
    def test_can_be_read_by_either_form_of_the_id(self):
        for name in ("blob:a.b-c_1", "a.b-c_1"):
            body = (
                "name = args['name']\nblobs = runtime.blobs\n"
                "with blobs.open(name) as lines: first = lines.readline()\n"
                "with blobs.open(name, 'rb') as file: start = file.read(5)\n"
                "with open(blobs.path(name), 'rb') as file: rest = file.read()\n"
                "return [blobs.read_text(name), first, start.decode(), rest == blobs.read_bytes(name), blobs.path(name), blobs.info(name)]"
            )
            text = BLOBS["blob:a.b-c_1"][1].decode()
            info = {"id": "blob:a.b-c_1", "kind": "text/plain", "size_bytes": 23}
            self.assertEqual(
                run(body, args={"name": name}, blobs=BLOBS).value,
                [text, "erste Zeile ä\n", "erste", True, "/blobs/blob:a.b-c_1", info],
            )

    def test_are_listed(self):
        found = run("return runtime.blobs.list()", blobs=BLOBS).value
        self.assertEqual([(one["id"], one["kind"], one["size_bytes"]) for one in found], [(i, k, len(c)) for i, (k, c) in BLOBS.items()])

    def test_that_are_not_mounted_raise_an_error_that_lists_the_mounted_ones(self):
        for name in ("blob:gone", "../skills", "blob:../../etc/passwd", "", "/etc/passwd"):
            error = run(f"return runtime.blobs.read_text({name!r})", blobs=BLOBS).error
            self.assertEqual(error["type"], "BlobError")
            self.assertIn("Mounted: blob:a.b-c_1, blob:raw. Add it to input_blobs.", error["message"])

    def test_are_read_only(self):
        for mode in ("w", "a", "r+", "x", "rb+"):
            self.assertEqual(run(f"runtime.blobs.open('blob:raw', {mode!r})", blobs=BLOBS).error["type"], "BlobError")

    def test_can_be_created_from_text_bytes_and_files(self):
        body = (
            "open('table.csv', 'w').write('a,b')\nblobs = runtime.blobs\n"
            "return [blobs.create('ä'), blobs.create(b'\\0', kind='a/b'), blobs.create(bytearray(b'x')), blobs.create_file('table.csv'),\n"
            "    blobs.create_file('/workspace/table.csv', 'c/d'), blobs.create('')]"
        )
        ended = run(body, answer=lambda frame: {"value": f"blob:made-{frame['id']}"})
        self.assertEqual(ended.value, [f"blob:made-{number}" for number in range(1, 7)])
        self.assertEqual(
            [(frame["kind"], frame["content"]) for frame in ended.frames[:-1]],
            [
                ("text/plain", "ä".encode()),
                ("a/b", b"\0"),
                ("application/octet-stream", b"x"),
                ("text/csv", b"a,b"),
                ("c/d", b"a,b"),
                ("text/plain", b""),
            ],
        )

    def test_can_be_created_from_any_memoryview(self):
        body = (
            "import array, ctypes\nnumbers = memoryview(array.array('H', [0x4142, 0x4344]))\n"
            "views = [memoryview(b'abc')[1:], memoryview(b'abcd')[::2], numbers, memoryview(b'')[::2], bytearray(),\n"
            "    memoryview((ctypes.c_int * 3 * 0)())]\n"
            "return [runtime.blobs.create(view) for view in views]"
        )
        ended = run(body, answer=lambda frame: {"value": f"blob:made-{frame['id']}"})
        kept = [frame["content"] for frame in ended.frames[:-1]]
        self.assertEqual(kept, [b"bc", b"ac", struct.pack("=2H", 0x4142, 0x4344), b"", b"", b""])

    def test_that_the_host_refuses_raise_an_error(self):
        body = "try: runtime.blobs.create('x')\nexcept runtime.BlobError as error: return str(error)"
        refusal = {"error": {"type": "QUOTA_EXCEEDED", "message": "The quota is used up."}}
        self.assertEqual(run(body, answer=lambda frame: refusal).value, "The quota is used up.")

    def test_of_other_types_are_rejected_with_a_hint(self):
        error = run("runtime.blobs.create({'a': 1})").error
        self.assertEqual(error["type"], "TypeError")
        self.assertIn("json.dumps", error["message"])


class Fetch(unittest.TestCase):
    USES = ["GH_TOKEN@api.github.com", "GH_TOKEN@uploads.github.com"]

    def ask(self, call, **options):
        answer = {"value": {"status": 404, "headers": {"x-a": "1"}, "body": "w6T/"}}
        ended = run(f"answer = {call}\nreturn [answer.status, answer.ok, answer.headers, answer.text, list(answer.body), repr(answer)]", answer=lambda _frame: answer, **options)
        return ended

    def test_sends_what_the_host_needs_and_returns_the_answer(self):
        ended = self.ask("runtime.fetch('https://api.github.com/x', 'post', [('A', 1)], 'ä', 'GH_TOKEN', 0.0001)", uses=self.USES)
        self.assertEqual(ended.value, [404, False, {"x-a": "1"}, "ä\ufffd", [195, 164, 255], "<Response 404 3 bytes>"])
        sent = ended.frames[0]
        self.assertEqual(sent["content"], "ä".encode())
        expected = {"type": "fetch", "url": "https://api.github.com/x", "method": "POST", "headers": [["A", "1"]], "secret": "GH_TOKEN", "timeout_ms": 1}
        self.assertEqual({name: sent[name] for name in expected}, expected)

    def test_takes_the_only_secret_and_sends_other_values_as_json(self):
        ended = self.ask("runtime.fetch('https://api.github.com/', 'PUT', body=[1])", uses=self.USES)
        self.assertEqual(ended.frames[0]["headers"], [["content-type", "application/json"]])
        self.assertEqual(ended.frames[0]["content"], b"[1]")

    def test_needs_the_name_of_one_of_several_secrets(self):
        error = self.ask("runtime.fetch('https://api.github.com/')", uses=[*self.USES, "OTHER@a.example"]).error
        self.assertEqual((error["type"], error["message"]), ("TypeError", "secret must name one of GH_TOKEN, OTHER."))

    def test_of_an_undeclared_secret_names_the_manifest(self):
        skills = {"a": (("main.py", "main"), {"main.py": "def main(): return runtime.fetch('https://a.example/', secret='OTHER')"})}
        error = run_skill("a", skills=skills, uses=self.USES).error
        self.assertEqual(error["type"], "FetchError")
        self.assertIn('[permissions] secrets = [{ name = "OTHER", hosts = ["api.example.com"] }]', error["message"])
        self.assertIn("run_code cannot use secrets", run("runtime.fetch('https://a.example/')").error["message"])

    def test_refuses_a_body_over_the_limit_before_it_is_sent(self):
        ended = self.ask("runtime.fetch('https://api.github.com/', 'PUT', body=bytes(2 ** 20 + 1))", uses=self.USES)
        self.assertIn("the limit is 1048576", ended.error["message"])
        self.assertEqual(len(ended.frames), 1)

    def test_raises_the_error_of_the_host(self):
        ended = run("runtime.fetch('https://api.github.com/')", uses=self.USES, answer=lambda _frame: {"error": {"type": "EXECUTION_TIMEOUT", "message": "Too late."}})
        self.assertEqual((ended.error["type"], ended.error["message"]), ("FetchError", "EXECUTION_TIMEOUT: Too late."))


class Secrets(unittest.TestCase):
    def test_that_are_only_sent_cannot_be_read(self):
        error = run("runtime.secret('GH_TOKEN')", uses=Fetch.USES).error
        self.assertIn('runtime.fetch(url, secret="GH_TOKEN"), which sends the value to api.github.com and uploads.github.com only', error["message"])
        self.assertEqual(run("try: runtime.secret('GH_TOKEN')\nexcept PermissionError: return 1", uses=Fetch.USES).value, 1)

    def test_are_available_by_name_and_not_in_the_environment(self):
        body = "import os\nreturn [runtime.secret('KEY'), 'KEY' in os.environ]"
        self.assertEqual(run(body, secrets={"KEY": "value"}).value, ["value", False])

    def test_that_are_missing_raise_an_error_that_names_the_declaration(self):
        skills = {"a": (("main.py", "main"), {"main.py": "def main(): return runtime.secret('OTHER')"})}
        error = run_skill("a", skills=skills, secrets={"KEY": "value"}).error
        self.assertEqual(error["type"], "SecretError")
        self.assertIn('[permissions] secrets = ["OTHER"]', error["message"])
        self.assertNotIn("value", str(error))
        self.assertIn("run_code has no access to secrets", run("runtime.secret('KEY')").error["message"])


class Skills(unittest.TestCase):
    def test_are_called_by_name_or_slug_and_return_their_output(self):
        files = {"main.py": "async def main(args): return runtime.result(args, 'summary')"}
        skills = {"a.b": (("main.py", "main"), files)}
        body = "return [runtime.skill('a.b')({'n': 1}), runtime.skill('a-b')(n=2), runtime.skill('a.b')()]"
        self.assertEqual(run(body, skills=skills).value, [{"n": 1}, {"n": 2}, {}])

    def test_can_be_awaited_by_async_code(self):
        files = {"main.py": "async def main(args): return args"}
        code = "async def main(): return await runtime.skill('a')({'n': 1})"
        self.assertEqual(run_code(code, skills={"a": (("main.py", "main"), files)}).value, {"n": 1})

    def test_that_are_not_mounted_raise_an_error_that_lists_the_mounted_ones(self):
        for name in ("c", "", "a.b\\0", "__proto__"):
            error = run(f"runtime.skill({name!r})({{}})", brokered=["a.b"]).error
            self.assertEqual(error["type"], "ModuleNotFoundError")
            self.assertIn("Mounted: a.b. Add it to mount_skills.", error["message"])


class Calls(unittest.TestCase):
    def test_from_many_threads_are_made_one_at_a_time(self):
        body = (
            "from concurrent.futures import ThreadPoolExecutor\n"
            "with ThreadPoolExecutor(8) as pool: return list(pool.map(lambda n: runtime.skill('a')({'n': n}), range(40)))"
        )
        ended = run(body, brokered=["a"], answer=lambda frame: {"value": frame["args"]["n"]})
        self.assertEqual(ended.value, list(range(40)))

    def test_from_a_forked_process_are_refused(self):
        body = (
            "import os\nreading, writing = os.pipe()\n"
            "if os.fork() == 0:\n    try: runtime.blobs.create('x')\n    except RuntimeError as error: os.write(writing, str(error).encode())\n    os._exit(0)\n"
            "os.wait()\nreturn os.read(reading, 1000).decode()"
        )
        self.assertIn("not available in forked processes", run(body).value)

    def test_that_were_interrupted_do_not_affect_the_next(self):
        body = (
            "import signal\ndef late(*_): raise TimeoutError\nsignal.signal(signal.SIGALRM, late)\n"
            "try:\n    signal.setitimer(signal.ITIMER_REAL, 0.05)\n    runtime.skill('slow')()\nexcept TimeoutError: pass\n"
            "return runtime.skill('quick')()"
        )
        asked = []

        def answer(frame):
            asked.append(frame["name"])
            if frame["name"] == "slow":
                import time

                time.sleep(0.2)
            return {"value": frame["name"]}

        self.assertEqual(run(body, brokered=["slow", "quick"], answer=answer).value, "quick")
        self.assertEqual(asked, ["slow", "quick"])


if __name__ == "__main__":
    unittest.main()
