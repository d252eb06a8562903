import os
import unittest

import running  # noqa: F401
from paths import View
from running import run_code


class Views(unittest.TestCase):
    def setUp(self):
        self.view = View({"skills": "/tmp/x/skills", "workspace": "/w", "output": "/output", "temporary": "/tmp/x/temporary", "project": None})

    def test_map_the_roots_and_paths_below_them(self):
        for given, real in (
            ("/skills", "/tmp/x/skills"),
            ("/skills/a.b/main.py", "/tmp/x/skills/a.b/main.py"),
            (b"/workspace/a", b"/w/a"),
            ("/tmp/a", "/tmp/x/temporary/a"),
            ("/skills2/a", "/skills2/a"),
            ("/output/a", "/output/a"),
            ("/project/a", "/project/a"),
            ("skills/a", "skills/a"),
            ("", ""),
            (5, 5),
            (None, None),
        ):
            self.assertEqual(self.view.real(given), real)

    def test_leave_real_paths_unchanged(self):
        self.assertEqual(self.view.real("/tmp/x/skills/a"), "/tmp/x/skills/a")

    def test_map_back(self):
        self.assertEqual(self.view.viewed("/w/a"), "/workspace/a")
        self.assertEqual(self.view.viewed("/was"), "/was")

    def test_are_not_needed_if_the_real_paths_are_the_protocol_paths(self):
        self.assertFalse(View({"skills": "/skills", "temporary": "/tmp", "project": None}).needed)
        self.assertTrue(self.view.needed)


class Programs(unittest.TestCase):
    def test_use_protocol_paths_in_all_functions(self):
        code = """
import glob, os, pathlib, shutil, tempfile, zipfile
from os import listdir, path

def main():
    pathlib.Path("/output/deep/er").mkdir(parents=True)
    pathlib.Path("/output/deep/er/a.txt").write_text("a")
    os.rename("/output/deep/er/a.txt", "/output/deep/b.txt")
    shutil.copy("/output/deep/b.txt", "/output/c.txt")
    shutil.copytree("/output/deep", "/workspace/copy")
    shutil.rmtree("/workspace/copy/er")
    os.symlink("/output/c.txt", "/workspace/link")
    with zipfile.ZipFile("/output/z.zip", "w") as archive:
        archive.write("/output/c.txt", "c.txt")
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        in_temporary = made.startswith("/tmp/") and os.path.isdir(made)
    try:
        open("/output/missing")
    except OSError as error:
        missing = error.filename
    os.chdir("/workspace/copy")
    return [
        sorted(listdir("/output")),
        sorted(entry.path for entry in os.scandir("/output") if entry.is_file()),
        sorted(map(str, pathlib.Path("/output").rglob("*.txt"))),
        sorted(str(one) for one in pathlib.Path("/output").iterdir()),
        sorted(glob.glob("/output/**/*.txt", recursive=True)),
        sorted(os.path.join(top, name) for top, _, names in os.walk("/output", topdown=False) for name in names),
        os.getcwd(),
        str(pathlib.Path.cwd()),
        path.realpath("b.txt"),
        path.exists("/workspace/copy/er"),
        open("/workspace/link").read(),
        in_temporary,
        missing,
        path.getsize("/output/c.txt"),
        os.path.samefile("/workspace/copy", "."),
    ]
"""
        texts = ["/output/c.txt", "/output/deep/b.txt"]
        self.assertEqual(
            run_code(code).value,
            [
                ["c.txt", "deep", "z.zip"],
                ["/output/c.txt", "/output/z.zip"],
                texts,
                ["/output/c.txt", "/output/deep", "/output/z.zip"],
                texts,
                sorted([*texts, "/output/z.zip"]),
                "/workspace/copy",
                "/workspace/copy",
                "/workspace/copy/b.txt",
                False,
                "a",
                True,
                "/output/missing",
                1,
                True,
            ],
        )

    def test_can_import_modules_they_wrote(self):
        code = (
            "import sys\ndef main():\n    open('/workspace/made.py', 'w').write('x = 5')\n    sys.path.insert(0, '/workspace')\n"
            "    import made\n    return [made.x, made.__file__]"
        )
        self.assertEqual(run_code(code).value, [5, "/workspace/made.py"])

    def test_have_source_lines_in_tracebacks(self):
        skills = {"a": (("main.py", "main"), {"main.py": "def main(args):\n    raise ValueError('x')  # here"})}
        code = "import traceback\nfrom skills.a import main as a\ndef main():\n    try: a(0)\n    except ValueError: return traceback.format_exc()"
        text = run_code(code, skills=skills).value
        self.assertIn('File "/skills/a/main.py", line 2, in main\n    raise ValueError', text)
        self.assertIn("in main\n    try: a(0)", text)


if __name__ == "__main__":
    unittest.main()
