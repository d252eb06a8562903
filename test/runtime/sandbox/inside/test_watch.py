"""Tests the measurement of resources with processes that the tests create."""

import ctypes
import fcntl
import mmap
import os
import signal
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import running  # noqa: F401
import disk
import processes
import watch

MEGABYTE = 1024 * 1024
EXIT = {"x86_64": 60, "aarch64": 93}
LIMITS = {"memory_bytes": 64 * MEGABYTE, "processes": 4, "tasks": 20}


def spawn(act):
    """Forks a child that calls `act` and then waits; returns when it is ready."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            kept = act()
            os.write(writer, b"x")
            signal.pause()
            del kept
        finally:
            os._exit(0)
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    return child


def has_ended(thread):
    with open(f"/proc/{thread}/stat", "rb") as file:
        return b") Z " in file.read()


def spawn_without_first_thread(act):
    """The same, but `act` runs in a second thread and the first thread has exited."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:

        def keep():
            kept = act()
            while not has_ended(os.getpid()):
                os.sched_yield()
            os.write(writer, b"x")
            signal.pause()
            del kept

        threading.Thread(target=keep).start()
        ctypes.CDLL(None).syscall(ctypes.c_long(EXIT[os.uname().machine]), ctypes.c_long(0))
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    return child


def filled(size):
    kept = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, size, 4096):
        kept[at] = 1
    return kept


@unittest.skipUnless(sys.platform == "linux", "There is no /proc.")
class Watching(unittest.TestCase):
    def setUp(self):
        self.children = []
        self.addCleanup(self.end)

    def end(self):
        for child in self.children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def look(self, limits=LIMITS, sockets=lambda _pids: 0, is_full=lambda: False):
        return watch.Watch(limits, lambda: self.children, sockets, is_full).look()

    def test_low_usage_exceeds_no_limit(self):
        self.children.append(spawn(lambda: None))
        self.assertIsNone(self.look())

    def test_memory_of_all_processes_is_summed(self):
        for _ in range(3):
            self.children.append(spawn(lambda: filled(30 * MEGABYTE)))
        self.assertEqual(self.look(), "memory")

    def test_memory_of_a_process_counts_after_its_first_thread_has_exited(self):
        for _ in range(2):
            self.children.append(spawn_without_first_thread(lambda: filled(40 * MEGABYTE)))
        self.assertEqual(self.look(), "memory")
        self.assertEqual(self.look({**LIMITS, "memory_bytes": 200 * MEGABYTE, "processes": 1}), "processes")

    def test_memory_shared_after_a_fork_counts_once(self):
        kept = filled(40 * MEGABYTE)
        for _ in range(3):
            self.children.append(spawn(lambda: None))
        self.assertIsNone(self.look())
        kept.close()

    def test_memory_in_sockets_counts(self):
        self.assertEqual(self.look(sockets=lambda _pids: 65 * MEGABYTE), "memory")

    def test_too_many_processes_and_full_disks_exceed_limits(self):
        for _ in range(5):
            self.children.append(spawn(lambda: None))
        self.assertEqual(self.look(), "processes")
        self.assertEqual(self.look({**LIMITS, "processes": 5}, is_full=lambda: True), "disk")

    def test_zombies_do_not_count(self):
        child = spawn(lambda: None)
        self.children.append(child)
        os.kill(child, signal.SIGKILL)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        limits = {**LIMITS, "processes": 0}
        self.assertIsNone(watch.Watch(limits, lambda: [child, 2**22 + 1], lambda _pids: 0, lambda: False).look())

    def test_mappings_count_as_kernel_memory(self):
        def many():
            libc = ctypes.CDLL(None, use_errno=True)
            libc.mmap.argtypes = [ctypes.c_long] * 6
            for count in range(4_000):
                libc.mmap(0, 4096, count % 2, 0x22, -1, 0)

        before, child = spawn(lambda: None), spawn(many)
        self.children += [before, child]
        kernel = watch.KernelMemory(64 * MEGABYTE)
        few, lots = kernel.look([before], [before]), kernel.look([child], [child])
        self.assertGreater(few, 0)
        self.assertGreaterEqual(lots - few, 3_999 * watch.MAPPING_BYTES)
        self.assertLess(lots, 2 * 4_000 * watch.MAPPING_BYTES)
        # It stops as soon as the limit is exceeded.
        self.assertLessEqual(watch.KernelMemory(1).look([child] * 9, [child] * 9), lots)

    def test_too_many_locks_exceed_the_limit_even_after_the_first_thread_has_exited(self):
        def lock(count):
            file = tempfile.TemporaryFile()
            for at in range(count, 0, -1):
                fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * at)
            return file

        kernel = watch.KernelMemory(MEGABYTE)
        # /proc/locks has the locks of other processes of this machine too, and is read up to twice the limit.
        with unittest.mock.patch.object(watch, "MOST_LOCKS", 2_000):
            for start in (spawn, spawn_without_first_thread):
                for count, is_too_much in ((1_900, False), (2_100, True)):
                    child = start(lambda: lock(count))  # noqa: B023
                    self.children.append(child)
                    self.assertEqual(kernel.look([child], []) > MEGABYTE, is_too_much)
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(self.children.pop(), 0)

    def test_kernel_memory_is_checked_less_often_when_checks_are_slow(self):
        with unittest.mock.patch.object(time, "monotonic", side_effect=[0, 0.01, 0.06, 0.07, 0.1, 0.17, 0.2]):
            kernel = watch.KernelMemory(MEGABYTE)
            with unittest.mock.patch.object(kernel, "look", return_value=7) as look:
                self.assertEqual([kernel.held_by([], []) for _ in range(4)], [0, 7, 7, 7])
                self.assertEqual(look.call_count, 2)

    def test_each_socket_counts_once(self):
        import socket

        def pairs():
            return [socket.socketpair() for _ in range(5)]

        child = spawn(pairs)
        self.children.append(child)
        before = watch.sockets_held_by([os.getpid()])
        self.assertEqual(watch.sockets_held_by([child, child]) - before, 10 * 212_992)


@unittest.skipUnless(sys.platform == "linux", "There is no /proc.")
class Families(unittest.TestCase):
    def test_are_killed_with_all_descendants(self):
        supervisor = os.fork()
        if supervisor == 0:
            status = 1
            try:
                status = self.end_a_family()
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(supervisor, 0)[1]), 0)

    def end_a_family(self):
        """Runs in a forked process, because it reaps all children."""
        import kernel

        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)

        def fork_on():
            os.setsid()
            for _ in range(3):
                if os.fork() == 0:
                    os.fork()
                    signal.pause()

        program = spawn(fork_on)
        family = processes.Family(program, alone=True)
        if family.is_over() or len(processes.descendants()) < 4:
            return 2
        if os.WTERMSIG(family.end()) != signal.SIGKILL or processes.descendants():
            return 3
        return 0 if os.WTERMSIG(family.end()) == signal.SIGKILL else 4

    def test_are_over_when_the_program_has_exited_and_keep_its_exit_status(self):
        supervisor = os.fork()
        if supervisor == 0:
            child = os.fork()
            if child == 0:
                os._exit(5)
            family = processes.Family(child, alone=True)
            while not family.is_over():
                pass
            os._exit(os.waitstatus_to_exitcode(family.end()))
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(supervisor, 0)[1]), 5)


@unittest.skipUnless(sys.platform == "linux", "There is no /proc.")
class SharedDisks(unittest.TestCase):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory()
        self.root = self._directory.name
        self.addCleanup(self._directory.cleanup)

    def look(self, most=MEGABYTE):
        return disk.SharedDisk([self.root], most, lambda: [os.getpid()]).look()

    def test_count_files_at_any_depth(self):
        os.makedirs(os.path.join(self.root, "a/b"))
        with open(os.path.join(self.root, "a/b/c"), "wb") as file:
            file.write(bytes(MEGABYTE // 2))
        self.assertFalse(self.look())
        with open(os.path.join(self.root, "d"), "wb") as file:
            file.write(bytes(MEGABYTE // 2 + 8192))
        self.assertTrue(self.look())

    def test_do_not_count_holes(self):
        with open(os.path.join(self.root, "sparse"), "wb") as file:
            file.truncate(100 * MEGABYTE)
        self.assertFalse(self.look())

    def test_count_deleted_files_while_they_are_open(self):
        with tempfile.TemporaryFile(dir=self.root) as file:
            file.write(bytes(2 * MEGABYTE))
            file.flush()
            self.assertTrue(self.look())
        self.assertFalse(self.look())

    def test_count_deleted_files_after_the_first_thread_has_exited(self):
        def nameless():
            file = tempfile.TemporaryFile(dir=self.root)
            file.write(bytes(2 * MEGABYTE))
            file.flush()
            return file

        child = spawn_without_first_thread(nameless)
        try:
            self.assertTrue(disk.SharedDisk([self.root], MEGABYTE, lambda: [child]).look())
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def test_count_deleted_files_that_are_only_mapped_as_full(self):
        with tempfile.TemporaryFile(dir=self.root) as file:
            file.truncate(4096)
            with mmap.mmap(file.fileno(), 4096):
                self.assertFalse(self.look())
                with unittest.mock.patch.object(disk, "_nameless_open", lambda _pid: {}):
                    self.assertTrue(self.look())


if __name__ == "__main__":
    unittest.main()
