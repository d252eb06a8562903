import os
import resource
import sys
import tempfile
import unittest

import running  # noqa: F401
import confine
import landlock

LIMITS = {
    "cpu_seconds": 60, "disk_bytes": 1 << 20, "open_files": 64, "data_bytes": 1 << 30, "address_bytes": 1 << 32, "tasks": 64,
}  # fmt: skip


@unittest.skipUnless(sys.platform == "linux" and landlock.abi() > 0, "This kernel has no Landlock.")
class Confined(unittest.TestCase):
    def attempt(self, act):
        """Returns the exit status of `act(directory)` in a forked process."""
        with tempfile.TemporaryDirectory() as directory:
            os.mkdir(os.path.join(directory, "left"))
            child = os.fork()
            if child == 0:
                status = 255
                try:
                    status = act(directory)
                finally:
                    os._exit(status)
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_with_namespaces_confinement_is_complete_except_for_the_limits(self):
        def act(directory):
            walls = {"readable": [os.path.join(directory, "left")], "runnable": [], "writable": []}
            apply = confine.prepare(False, walls, [])
            os.listdir(os.path.join(directory, "left"))
            if is_open(directory) or landlock.abi() != 0:
                return 1
            apply({"limits": LIMITS})
            return 0 if resource.getrlimit(resource.RLIMIT_NOFILE) == (64, 64) else 2

        self.assertEqual(self.attempt(act), 0)

    def test_without_namespaces_landlock_is_enforced_when_the_run_begins(self):
        def act(directory):
            walls = {"readable": [os.path.join(directory, "left")], "runnable": [], "writable": []}
            apply = confine.prepare(True, walls, ["owner"])
            if not is_open(directory):
                return 1
            apply({"limits": LIMITS})
            os.listdir(os.path.join(directory, "left"))
            return 2 if is_open(directory) or landlock.abi() != 0 else 0

        self.assertEqual(self.attempt(act), 0)


def is_open(directory):
    try:
        os.listdir(directory)
    except PermissionError:
        return False
    return True


if __name__ == "__main__":
    unittest.main()
