import unittest

import running
from importer import to_module
from running import run_code, run_skill


def skill(files, file="main.py", export="main"):
    return (file, export), files


ECHO = skill({"main.py": "print('loaded')\ndef main(args): return args\n"})


class Names(unittest.TestCase):
    def test_of_skills_become_module_names(self):
        for name, module in (
            ("salesforce.leads.sync", "skills.salesforce.leads.sync"),
            ("pdf-tools", "skills.pdf_tools"),
            ("a.class.2nd", "skills.a.class_._2nd"),
            ("import", "skills.import_"),
            ("3-d", "skills._3_d"),
            ("überblick", "skills.überblick"),
        ):
            self.assertEqual(to_module(name), module)


class Imports(unittest.TestCase):
    def test_by_dotted_name_and_by_slug_find_the_entrypoint(self):
        code = (
            "from skills.salesforce.leads.sync import main\nimport skills.pdf_tools as pdf\nimport skills.a.class_._2nd\n"
            "def go(args): return [main(1), pdf.main(2), skills.a.class_._2nd.main(3)]"
        )
        skills = {"salesforce.leads.sync": ECHO, "pdf-tools": ECHO, "a.class.2nd": ECHO}
        self.assertEqual(run_code(code, entrypoint="go", skills=skills).value, [1, 2, 3])

    def test_run_the_entry_module_once_on_first_use(self):
        code = "import skills.a.b\nprint('imported')\ndef main(): return [skills.a.b.main(1), skills.a.b.main(2)]"
        ended = run_code(code, skills={"a.b": ECHO})
        self.assertEqual((ended.value, ended.stdout), ([1, 2], "imported\nloaded\n"))

    def test_of_a_longer_name_do_not_run_a_shorter_one(self):
        skills = {
            "a": skill({"main.py": "raise RuntimeError('must not run')"}),
            "a.b": skill({"main.py": "raise RuntimeError('must not run')"}),
            "a.b.c": ECHO,
        }
        for code in (
            "from skills.a.b.c import main",
            "import skills.a.b.c\nmain = skills.a.b.c.main",
            "from skills.a.b import c\nmain = c.main",
            "from skills import a\nmain = a.b.c.main",
        ):
            self.assertEqual(run_code(code, args={"x": 1}, skills=skills).value, {"x": 1})

    def test_with_a_star_find_the_public_names(self):
        skills = {"a": skill({"main.py": "_hidden = 1\nseen = 2\ndef main(args): return 3"})}
        code = "from skills.a import *\ndef go(): return [seen, '_hidden' in globals(), main(0)]"
        self.assertEqual(run_code(code, entrypoint="go", skills=skills).value, [2, False, 3])

    def test_of_unmounted_skills_list_the_mounted_ones(self):
        skills = {"sales.leads.sync": ECHO, "pdf-tools": ECHO}
        for code, missing in (
            ("import skills.other.thing", "'other'"),
            ("from skills.sales.leads.sink import main", "'sales.leads.sink'"),
            ("from skills.sales.leads import sink", "'sales.leads.sink'"),
            ("from skills import gone", "'gone'"),
        ):
            error = run_code(code, skills=skills).error
            self.assertEqual(error["type"], "ModuleNotFoundError", code)
            self.assertIn(f"No skill {missing} is mounted. Mounted: sales.leads.sync, pdf-tools.", error["message"])
            self.assertIn("mount_skills", error["message"])
            self.assertEqual(error["details"]["line"], 1)

    def test_of_unmounted_skills_can_be_caught(self):
        code = "try:\n    import skills.gone\nexcept ImportError:\n    skills = None\ndef main(): return skills"
        self.assertIsNone(run_code(code).value)

    def test_of_an_undefined_name_raise_import_error(self):
        error = run_code("from skills.a import other", skills={"a": ECHO}).error
        self.assertEqual(error["type"], "ImportError")
        self.assertIn("cannot import name 'other' from 'skills.a'", error["message"])

    def test_of_a_skill_without_entrypoint_name_its_directory(self):
        error = run_code("from skills.words import main", skills={"words": (None, {"SKILL.md": "text"})}).error
        self.assertEqual(error["type"], "ImportError")
        self.assertIn("/skills/words/", error["message"])

    def test_that_failed_can_be_retried(self):
        skills = {"a": skill({"main.py": "import runtime\nruntime.n = getattr(runtime, 'n', 0) + 1\nassert runtime.n > 1\nmain = int"})}
        code = "def main():\n    try:\n        from skills.a import main\n    except AssertionError:\n        from skills.a import main\n    return main()"
        self.assertEqual(run_code(code, skills=skills).value, 0)

    def test_that_fail_with_an_attribute_error_name_the_attribute(self):
        error = run_code("from skills.a import main", skills={"a": skill({"main.py": "import os\nos.gone"})}).error
        self.assertIn("has no attribute 'gone'", error["message"])
        self.assertIn("/skills/a/main.py", error["details"]["traceback"])


class Siblings(unittest.TestCase):
    def test_of_two_skills_may_have_the_same_name(self):
        skills = {
            "a": skill({"main.py": "import utils\nfrom utils import who\ndef main(args): return [who, utils.who]", "utils.py": "who = 'a'"}),
            "b": skill({"main.py": "import utils\ndef main(args): return utils.who", "utils.py": "who = 'b'"}),
        }
        code = (
            "from skills.a import main as a\nfrom skills.b import main as b\n"
            "def main():\n    try:\n        import utils\n    except ImportError:\n        utils = None\n    return [a(0), b(0), utils]"
        )
        self.assertEqual(run_code(code, skills=skills).value, [["a", "a"], "b", None])

    def test_are_found_next_to_the_entrypoint_and_in_the_root_by_absolute_and_relative_imports(self):
        files = {
            "src/main.py": (
                "import near, far, pack.deep, pack.deep as deep\nfrom pack import deep as again\nfrom . import near as n2\n"
                "from .near import who\nfrom ..far import who as f2\nimport src.near as n3\n"
                "def main(args): return [near is n2 is n3, who, f2, far.who, pack.deep.who, deep is again, pack.started]"
            ),
            "src/near.py": "who = 'near'",
            "far.py": "import near\nwho = 'far of ' + near.who",
            "pack/__init__.py": "started = True",
            "pack/deep.py": "from ..far import who as far\nimport near\nfrom . import started\nwho = [far, near.who, started]",
        }
        self.assertEqual(
            run_skill("a.b", skills={"a.b": skill(files, "src/main.py")}).value,
            [True, "near", "far of near", "far of near", ["far of near", "near", True], True, True],
        )

    def test_take_precedence_over_the_standard_library_only_within_the_skill(self):
        files = {
            "main.py": "import json, csv, types\ndef main(args): return [json.mine, csv.mine, hasattr(types, 'mine')]",
            "json.py": "mine = 1",
            "csv.py": "mine = 2",
            "types/readme.txt": "a directory is not a module while there is a real one",
        }
        code = "import json\nfrom skills.a import main as a\ndef main(): return [a(0), json.loads('3')]"
        self.assertEqual(run_code(code, skills={"a": skill(files)}).value, [[1, 2, False], 3])

    def test_may_have_the_names_of_internal_modules(self):
        names = [name for name in ("frames", "calls", "result", "paths", "program", "importer", "entry", "confine", "watch")]
        files = {"main.py": f"import {', '.join(names)}\ndef main(args): return [{', '.join(f'{name}.x' for name in names)}]"}
        files.update({f"{name}.py": f"x = {name!r}" for name in names})
        self.assertEqual(run_skill("a", skills={"a": skill(files)}).value, names)
        tried = "import importlib\ndef main():\n    found = []\n    for name in %r:\n        try: found.append(importlib.import_module(name).__name__)\n        except ImportError: pass\n    return found"
        self.assertEqual(run_code(tried % (names,)).value, [])

    def test_can_be_pickled_and_imported_with_importlib(self):
        files = {
            "main.py": (
                "import pickle, importlib, shapes\n"
                "def main(args):\n"
                "    same = importlib.import_module('shapes') is shapes and importlib.import_module('.shapes', __package__) is shapes\n"
                "    return [pickle.loads(pickle.dumps(shapes.Point(3))).x, same]"
            ),
            "shapes.py": "class Point:\n    def __init__(self, x): self.x = x",
        }
        self.assertEqual(run_skill("a", skills={"a": skill(files)}).value, [3, True])

    def test_find_their_files_by_their_own_path(self):
        files = {
            "v1.0/main.py": (
                "import os, helper, pkgutil\nfrom pathlib import Path\n"
                "def main(args): return [__file__, Path(__file__).with_name('data.txt').read_text(), helper.__file__,\n"
                "    open(os.path.join(os.path.dirname(__file__), 'data.txt')).read(), pkgutil.get_data(__name__, 'data.txt').decode()]"
            ),
            "v1.0/helper.py": "",
            "v1.0/data.txt": "data",
        }
        self.assertEqual(
            run_skill("a.b", skills={"a.b": skill(files, "v1.0/main.py")}).value,
            ["/skills/a.b/v1.0/main.py", "data", "/skills/a.b/v1.0/helper.py", "data", "data"],
        )

    def test_that_are_missing_raise_module_not_found_error(self):
        error = run_skill("a", skills={"a": skill({"main.py": "\nimport gone"})}).error
        self.assertEqual((error["type"], error["message"]), ("ModuleNotFoundError", "No module named 'gone'"))
        self.assertEqual((error["details"]["file"], error["details"]["line"]), ("/skills/a/main.py", 2))

    def test_never_replace_runtime_or_skills(self):
        files = {
            "main.py": "import runtime\nfrom skills.b import main as b\ndef main(args): return [runtime.run_id, b(1)]",
            "runtime.py": "",
            "skills/__init__.py": "",
        }
        self.assertEqual(run_skill("a", skills={"a": skill(files), "b": ECHO}).value, ["run_0123456789", 1])

    def test_may_declare_another_encoding(self):
        files = {"main.py": "# -*- coding: latin-1 -*-\ndef main(args): return 'ä'\n".encode("latin-1")}
        self.assertEqual(run_skill("a", skills={"a": skill(files)}).value, "ä")


class Brokered(unittest.TestCase):
    def test_skills_call_the_host(self):
        code = (
            "import runtime\nfrom skills.mail.send import main as send\nfrom skills.mail import send as module\n"
            "def main(): return [send({'to': (1,)}), module.main(to=2), runtime.skill('mail.send')({'to': 3}, cc=4), runtime.skill('mail-send')()]"
        )
        ended = run_code(code, brokered=["mail.send"], answer=lambda frame: {"value": [frame["name"], frame["args"]]})
        args = [{"to": [1]}, {"to": 2}, {"to": 3, "cc": 4}, {}]
        self.assertEqual(ended.value, [["mail.send", one] for one in args])
        self.assertEqual([frame.get("id") for frame in ended.frames], [1, 2, 3, 4, None])

    def test_failures_can_be_caught(self):
        code = (
            "from runtime import SkillError\nfrom skills.mail import send\nimport pickle\n"
            "def main():\n    try: send.main({})\n    except SkillError as error:\n"
            "        copy = pickle.loads(pickle.dumps(error))\n        return [error.type, error.message, error.run_id, str(error), copy.run_id]"
        )
        failure = {"type": "TimeoutError", "message": "too slow", "run_id": "run_inner"}
        ended = run_code(code, brokered=["mail.send"], answer=lambda frame: {"error": failure})
        self.assertEqual(ended.value, ["TimeoutError", "too slow", "run_inner", "TimeoutError: too slow", "run_inner"])

    def test_uncaught_failures_name_the_run(self):
        code = "from skills.mail.send import main"
        failure = {"type": "TimeoutError", "message": "too slow", "run_id": "run_inner"}
        error = run_code(code, brokered=["mail.send"], answer=lambda frame: {"error": failure}).error
        self.assertEqual((error["type"], error["message"]), ("SkillError", "TimeoutError: too slow"))
        self.assertEqual(error["details"]["skill_error"], {"type": "TimeoutError", "run_id": "run_inner"})

    def test_args_that_are_not_a_dict_are_rejected(self):
        code = "from skills.a import main as a\ndef main(): a([1])"
        self.assertEqual(run_code(code, brokered=["a"]).error["message"], "The args of a skill must be a dict, not list.")

    def test_args_that_are_not_json_are_rejected_with_their_path(self):
        ended = run_code("from skills.a import main as a\ndef main(): a({'x': [b'']})", brokered=["a"])
        self.assertIn("args.x[0] is bytes", ended.error["message"])
        self.assertEqual(len(ended.frames), 1)


if __name__ == "__main__":
    unittest.main()
