import os
import sys
import tempfile
import unittest

import running  # noqa: F401
import landlock


class Rights(unittest.TestCase):
    def test_grow_with_the_abi_version(self):
        self.assertEqual(landlock.rights_on_files(1), 2**13 - 1)
        self.assertEqual(landlock.rights_on_files(2), 2**14 - 1)
        self.assertEqual(landlock.rights_on_files(3), 2**15 - 1)
        self.assertEqual(landlock.rights_on_files(4), 2**15 - 1)
        self.assertEqual(landlock.rights_on_files(7), 2**16 - 1)


@unittest.skipUnless(sys.platform == "linux" and landlock.abi() > 0, "This kernel has no Landlock.")
class Restricted(unittest.TestCase):
    def test_a_process_can_access_only_the_allowed_paths(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ("readable", "writable", "neither"):
                os.mkdir(os.path.join(directory, name))
                with open(os.path.join(directory, name, "file"), "w") as file:
                    file.write(name)
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    status = self.attempt(directory)
                finally:
                    os._exit(status)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def attempt(self, directory):
        def place(name):
            return os.path.join(directory, name)

        def refused(act):
            try:
                act()
            except PermissionError:
                return True
            return False

        ruleset = landlock.make_ruleset(landlock.abi(), True, [place("readable")], [], [place("writable"), place("absent")])
        with open(place("neither/file")):
            pass  # Not enforced yet.
        landlock.enforce(ruleset)
        with open(place("readable/file")) as file, open(place("writable/file"), "w") as written:
            written.write(file.read())
        attempts = [
            lambda: open(place("neither/file")),
            lambda: os.listdir(place("neither")),
            lambda: open(place("readable/file"), "a"),
            lambda: open(place("readable/new"), "w"),
            lambda: os.unlink(place("readable/file")),
            lambda: os.mkdir(place("new")),
            lambda: os.mknod(place("writable/device"), 0o20666, os.makedev(1, 3)),
            lambda: os.execv("/bin/true", ["true"]),
        ]
        return next((number for number, act in enumerate(attempts, 2) if not refused(act)), 0)


if __name__ == "__main__":
    unittest.main()
