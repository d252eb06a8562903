"""Tests the filter with a small interpreter. The contract suite tests it in the kernel."""

import struct
import unittest

import running  # noqa: F401
import seccomp
from syscall_numbers import AARCH64, NEWEST, X86_64

MACHINES = {"x86_64": (0xC000003E, X86_64), "aarch64": (0xC00000B7, AARCH64)}
REFUSED = seccomp.ERRNO | seccomp.EPERM
ABSENT = seccomp.ERRNO | seccomp.ENOSYS
OWN = 1234


def interpret(code, architecture, number, arguments=()):
    """The action of the filter for a system call; fails if the kernel would reject the filter."""
    arguments = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *(value & (2**64 - 1) for value in arguments))
    instructions = list(struct.iter_unpack("<HBBI", code))
    assert len(instructions) <= 4096
    at, accumulator = 0, 0
    while True:
        operation, when_true, when_false, value = instructions[at]
        at += 1
        if operation == 0x20:
            accumulator = struct.unpack_from("<I", data, value)[0]
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x15:
            at += when_true if accumulator == value else when_false
        elif operation == 0x35:
            at += when_true if accumulator >= value else when_false
        elif operation == 0x06:
            return value
        else:
            raise AssertionError(f"no such instruction: {operation:#x}")


class Filter:
    def __init__(self, machine, **options):
        self._architecture, self._numbers = MACHINES[machine]
        self._code = seccomp.assemble(machine, seccomp.rules(pid=OWN, **{"network": False, **options}))

    def of(self, name, *arguments):
        return interpret(self._code, self._architecture, self._numbers[name], arguments)

    def has(self, name):
        return name in self._numbers

    def of_number(self, number, architecture=None):
        return interpret(self._code, architecture or self._architecture, number)


class EveryMachine(unittest.TestCase):
    def each(self, **options):
        for machine in MACHINES:
            with self.subTest(machine=machine):
                yield Filter(machine, **options)

    def test_jumps_stay_within_the_filter(self):
        for machine in MACHINES:
            for options in ({}, {"alone": True, "owner": True, "landlock_abi": 1}):
                code = seccomp.assemble(machine, seccomp.rules(network=False, **options))
                instructions = list(struct.iter_unpack("<HBBI", code))
                for at, (operation, when_true, when_false, _) in enumerate(instructions):
                    if operation in (0x15, 0x35):
                        self.assertLess(at + 1 + max(when_true, when_false), len(instructions))
                self.assertEqual(instructions[-1], (0x06, 0, 0, seccomp.ALLOW))

    def test_ordinary_system_calls_are_allowed(self):
        # read, write, exit
        for machine, numbers in (("x86_64", (0, 1, 60)), ("aarch64", (63, 64, 93))):
            for number in numbers:
                self.assertEqual(Filter(machine).of_number(number), seccomp.ALLOW)

    def test_other_architectures_are_killed(self):
        for one in self.each():
            for architecture in (0x40000003, 0x40000028, 0xC00000F3):
                self.assertEqual(one.of_number(1, architecture), seccomp.KILL_PROCESS)
            self.assertEqual(one.of_number(0x40000000 | 1), seccomp.KILL_PROCESS)

    def test_system_calls_newer_than_the_list_return_enosys(self):
        for one in self.each():
            self.assertEqual(one.of_number(NEWEST + 1), ABSENT)
            self.assertEqual(one.of_number(10_000), ABSENT)
            self.assertEqual(one.of("clone3"), ABSENT)

    def test_dangerous_system_calls_are_refused(self):
        for one in self.each():
            for name in "ptrace bpf keyctl io_uring_setup mount unshare memfd_create shmget mq_open perf_event_open".split():
                self.assertEqual(one.of(name, 1, 2, 3), REFUSED, name)

    def test_clone_creates_processes_but_not_namespaces(self):
        for one in self.each():
            self.assertEqual(one.of("clone", 0x01200011), seccomp.ALLOW)
            for bit in (17, 25, 26, 27, 28, 29, 30):
                self.assertEqual(one.of("clone", 0x11 | 1 << bit), REFUSED, bit)

    def test_only_unix_sockets_are_allowed_without_a_network(self):
        for one in self.each():
            self.assertEqual(one.of("socket", 1, 1), seccomp.ALLOW)
            for family in (0, 2, 10, 16, 17, 38, 40):
                self.assertEqual(one.of("socket", family, 1), REFUSED, family)
        for one in self.each(network=True):
            for family in (1, 2, 10):
                self.assertEqual(one.of("socket", family, 1), seccomp.ALLOW, family)
            for family in (0, 16, 17, 38, 40):
                self.assertEqual(one.of("socket", family, 1), REFUSED, family)

    def test_unix_sockets_in_a_project_cannot_be_connected_to(self):
        for network in (False, True):
            for one in self.each(project=True, network=network):
                self.assertEqual(one.of("socket", 1, 1), REFUSED)
                self.assertEqual(one.of("socket", 2, 1), seccomp.ALLOW if network else REFUSED)
                self.assertEqual(one.of("socketpair", 1, 1 | 0o2000000), seccomp.ALLOW)
                self.assertEqual(one.of("socketpair", 1, 2), REFUSED)

    def test_int_arguments_are_compared_by_their_low_half(self):
        for one in self.each():
            self.assertEqual(one.of("ioctl", 0, 0x5412), REFUSED)
            self.assertEqual(one.of("ioctl", 0, 0xDEADBEEF_00005412), REFUSED)
            self.assertEqual(one.of("ioctl", 0, 0x5413), seccomp.ALLOW)
            self.assertEqual(one.of("socket", 1 << 32 | 16, 1), REFUSED)

    def test_anonymous_shared_memory_is_refused(self):
        for one in self.each():
            self.assertEqual(one.of("mmap", 0, 4096, 3, 0x22), seccomp.ALLOW)
            self.assertEqual(one.of("mmap", 0, 4096, 3, 0x01, 5), seccomp.ALLOW)
            for flags in (0x21, 0x23, 0x8021):
                self.assertEqual(one.of("mmap", 0, 4096, 3, flags), REFUSED, flags)

    def test_setuid_and_setgid_modes_are_refused(self):
        for one in self.each():
            places = {"fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "openat": 3, "mknodat": 2}
            if one.has("chmod"):
                places.update({"chmod": 1, "creat": 1, "open": 2, "mknod": 1})
            for name, place in places.items():
                before = [0] * place
                self.assertEqual(one.of(name, *before, 0o100755), seccomp.ALLOW, name)
                for mode in (0o4755, 0o2755, 0o6000, 0o104000):
                    self.assertEqual(one.of(name, *before, mode), REFUSED, name)
            self.assertEqual(one.of("openat2", 3, 4, 5, 24), ABSENT)

    def test_the_personality_can_be_queried_but_not_changed(self):
        for one in self.each():
            self.assertEqual(one.of("personality", 0xFFFFFFFF), seccomp.ALLOW)
            self.assertEqual(one.of("personality", 0), seccomp.ALLOW)
            self.assertEqual(one.of("personality", 0x0040000), REFUSED)


class WithoutNamespaces(unittest.TestCase):
    def test_named_sockets_are_refused(self):
        one = Filter("x86_64", alone=True)
        self.assertEqual(one.of("socket", 1, 1), REFUSED)
        self.assertEqual(one.of("connect", 3), REFUSED)
        self.assertEqual(one.of("socketpair", 1, 1 | 0o2000000), seccomp.ALLOW)
        self.assertEqual(one.of("socketpair", 1, 2), REFUSED)
        self.assertEqual(one.of("socketpair", 2, 1), REFUSED)
        self.assertEqual(one.of("sendto", 3, 4, 5, 0, 0), seccomp.ALLOW)
        self.assertEqual(one.of("sendto", 3, 4, 5, 0, 0x7FFF_0000_1000), REFUSED)
        self.assertEqual(one.of("sendto", 3, 4, 5, 0, 0x7FFF_0000_0000), REFUSED)
        self.assertEqual(one.of("sendmsg", 3), REFUSED)

    def test_other_processes_cannot_be_changed(self):
        one = Filter("x86_64", alone=True)
        self.assertEqual(one.of("setsid"), REFUSED)
        self.assertEqual(one.of("prlimit64", 0, 7), seccomp.ALLOW)
        self.assertEqual(one.of("prlimit64", OWN, 7), seccomp.ALLOW)
        self.assertEqual(one.of("prlimit64", 4321, 7), REFUSED)
        self.assertEqual(one.of("sched_setaffinity", 4321), REFUSED)
        self.assertEqual(one.of("setpriority", 0, 4321, 19), REFUSED)
        self.assertEqual(one.of("setpriority", 0, 0, 19), seccomp.ALLOW)
        self.assertEqual(one.of("ioprio_set", 1, 0, 0), seccomp.ALLOW)
        for which in (1, 2):
            self.assertEqual(one.of("setpriority", which, 0, 19), REFUSED)
        for which in (2, 3):
            self.assertEqual(one.of("ioprio_set", which, 0, 0), REFUSED)

    def test_leases_and_directory_notifications_are_refused(self):
        for one in (Filter("x86_64"), Filter("aarch64", alone=True)):
            for command in (1024, 1026, 1040):
                self.assertEqual(one.of("fcntl", 3, command, 0), REFUSED)
            for command in (1, 3, 6, 1025, 1030):
                self.assertEqual(one.of("fcntl", 3, command, 0), seccomp.ALLOW)

    def test_kernel_memory_without_a_limit_is_refused(self):
        for one in (Filter("x86_64"), Filter("aarch64", alone=True)):
            # F_SETPIPE_SZ; then F_OFD_SETLK and F_OFD_SETLKW, as on a kernel without them.
            self.assertEqual(one.of("fcntl", 3, 1031, 0), REFUSED)
            for command in (37, 38):
                self.assertEqual(one.of("fcntl", 3, command, 0), seccomp.ERRNO | seccomp.EINVAL)
            self.assertEqual(one.of("inotify_init1"), REFUSED)
            self.assertEqual(one.of("inotify_add_watch"), REFUSED)

    def test_a_confined_process_cannot_add_restrictions(self):
        names = ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp")
        for machine, (architecture, numbers) in MACHINES.items():
            code = seccomp.assemble(machine, seccomp.rules_against_confining())
            for name in names:
                self.assertEqual(interpret(code, architecture, numbers[name]), REFUSED)
                # Before that filter it can.
                self.assertEqual(Filter(machine, alone=True).of(name), seccomp.ALLOW)
            self.assertEqual(interpret(code, architecture, numbers["prctl"], [22, 2]), REFUSED)
            self.assertEqual(interpret(code, architecture, numbers["prctl"], [15]), seccomp.ALLOW)

    def test_huge_pages_are_refused(self):
        one = Filter("x86_64")
        self.assertEqual(one.of("mmap", 0, 4096, 3, 0x22), seccomp.ALLOW)
        self.assertEqual(one.of("mmap", 0, 4096, 3, 0x40022), REFUSED)

    def test_threads_share_their_descriptors(self):
        one = Filter("x86_64")
        thread, files, ordinary = 0x10000, 0x400, 0x3D0F00 & ~0x400
        self.assertEqual(one.of("clone", thread | files | ordinary), seccomp.ALLOW)
        self.assertEqual(one.of("clone", thread | ordinary & ~files), REFUSED)
        self.assertEqual(one.of("close_range", 3, 9, 0), seccomp.ALLOW)
        self.assertEqual(one.of("close_range", 3, 9, 4), seccomp.ALLOW)
        self.assertEqual(one.of("close_range", 3, 9, 2), REFUSED)

    def test_the_supervisor_cannot_be_changed(self):
        inside = Filter("x86_64")
        for name in ("sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr", "prlimit64"):
            self.assertEqual(inside.of(name, 1), REFUSED)
            for pid in (0, 7, OWN):
                self.assertEqual(inside.of(name, pid), seccomp.ALLOW)
        for name, of_a_process in (("setpriority", 0), ("ioprio_set", 1)):
            self.assertEqual(inside.of(name, of_a_process, 1), REFUSED)
            self.assertEqual(inside.of(name, of_a_process, 7), seccomp.ALLOW)
            for others in (of_a_process + 1, of_a_process + 2):
                self.assertEqual(inside.of(name, others, 0), REFUSED)

    def test_without_landlock_signal_scoping_only_own_processes_can_be_signalled(self):
        old, new = Filter("x86_64", alone=True, landlock_abi=5), Filter("x86_64", alone=True, landlock_abi=6)
        self.assertEqual(new.of("kill", 4321, 9), seccomp.ALLOW)
        self.assertEqual(old.of("kill", 4321, 9), REFUSED)
        self.assertEqual(old.of("kill", -1, 9), REFUSED)
        self.assertEqual(old.of("kill", OWN, 9), seccomp.ALLOW)
        self.assertEqual(old.of("kill", 0, 9), seccomp.ALLOW)
        self.assertEqual(old.of("tgkill", OWN, OWN, 6), seccomp.ALLOW)
        self.assertEqual(old.of("tgkill", 4321, 4321, 6), REFUSED)
        self.assertEqual(old.of("fcntl", 3, 8, 4321), REFUSED)

    def test_truncate_is_refused_where_landlock_does_not_cover_it(self):
        self.assertEqual(Filter("x86_64", alone=True, landlock_abi=2).of("truncate"), REFUSED)
        self.assertEqual(Filter("x86_64", alone=True, landlock_abi=3).of("truncate"), seccomp.ALLOW)

    def test_an_owner_cannot_change_modes_owners_or_times(self):
        mine, nobodys = Filter("x86_64", alone=True, owner=True), Filter("x86_64", alone=True)
        for name in ("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "utimes"):
            self.assertEqual(mine.of(name, 1, 2), REFUSED, name)
            self.assertEqual(nobodys.of(name, 1, 2), seccomp.ALLOW, name)
        # With a descriptor too: it may refer to a read-only file.
        for path in (0, 0x7FFF_0000_1000):
            self.assertEqual(mine.of("utimensat", 3, path), REFUSED)
            self.assertEqual(nobodys.of("utimensat", 3, path), seccomp.ALLOW)

    def test_with_a_writable_project_no_modes_owners_or_attributes_change(self):
        for name in ("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "setxattr", "fremovexattr"):
            self.assertEqual(Filter("x86_64", project=True, writes=True).of(name, 1, 2), REFUSED, name)
            self.assertEqual(Filter("x86_64", project=True).of(name, 1, 2), seccomp.ALLOW, name)
        self.assertEqual(Filter("x86_64", project=True, writes=True).of("utimensat", 3, 0), seccomp.ALLOW)

    def test_ioctl_is_limited_to_terminals_and_pipes(self):
        one = Filter("x86_64", alone=True)
        # TCGETS, FIONREAD, FIOCLEX; then FS_IOC_SETFLAGS, FS_IOC_ENABLE_VERITY, BTRFS_IOC_SNAP_CREATE, TIOCSTI.
        for command in (0x5401, 0x541B, 0x5451):
            self.assertEqual(one.of("ioctl", 3, command), seccomp.ALLOW, hex(command))
        for command in (0x40086602, 0x40806685, 0x50009401, 0x5412):
            self.assertEqual(one.of("ioctl", 3, command), REFUSED, hex(command))


class Numbers(unittest.TestCase):
    def test_every_name_is_known_on_some_architecture(self):
        every = seccomp.rules(network=False, alone=True, owner=True, landlock_abi=0)
        unknown = {rule.name for rule in every} - set(X86_64) - set(AARCH64)
        # Newer than the newest system call that the filter allows.
        self.assertEqual(unknown, {"setxattrat", "removexattrat"})

    def test_an_unknown_architecture_raises_key_error(self):
        with self.assertRaises(KeyError):
            seccomp.assemble("riscv64", [])


if __name__ == "__main__":
    unittest.main()
