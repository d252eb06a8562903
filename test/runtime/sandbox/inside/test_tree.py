import os
import signal
import sys
import time
import unittest

import running  # noqa: F401
import kernel
from tree import Tree, list_by_ps



def sleep(before="pass"):
    code = f"import os, time; {before}; time.sleep(1000)"
    return os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-I", "-S", "-c", code])


def start(code):
    """Runs `code` in a forked process and session, like the program of a run; returns its id."""
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            code()
        finally:
            os._exit(3)
    return child


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rsplit(b")", 1)[1].split()[0] != b"Z"
    except FileNotFoundError:
        return False


def wait_until(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("It did not happen.")


@unittest.skipUnless(sys.platform == "linux" and os.path.exists("/bin/ps"), "needs /proc and ps")
class Trees(unittest.TestCase):
    """Both ways to list processes; that by `ps` is for other systems."""

    @classmethod
    def setUpClass(cls):
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)

    def test_end_all_processes_of_the_program(self):
        for listed in (None, list_by_ps):
            with self.subTest(listed=listed):

                def code():
                    sleep()
                    sleep("os.setsid()")
                    time.sleep(1000)

                tree = Tree(start(code), listed)
                wait_until(lambda: len(set(tree.below()) - {tree.program}) == 2)
                below = [*tree.below()]
                self.assertFalse(tree.is_over())
                self.assertEqual(tree.end(), 128 + signal.SIGKILL)
                self.assertEqual([pid for pid in below if is_alive(pid)], [])

    def test_end_a_process_that_outlived_the_program_in_its_group(self):
        for listed in (None, list_by_ps):
            with self.subTest(listed=listed):
                tree = Tree(start(sleep), listed)
                wait_until(tree.is_over)
                if listed is not None:
                    wait_until(lambda: len(tree.below()) == 1)
                self.assertEqual(tree.end(), 3)
                self.assertEqual(tree.below(), {})

    def test_know_the_memory_by_ps(self):
        tree = Tree(start(lambda: time.sleep(1000)), list_by_ps)
        wait_until(lambda: sum(tree.below().values()) > 1_000_000)
        tree.end()


if __name__ == "__main__":
    unittest.main()
