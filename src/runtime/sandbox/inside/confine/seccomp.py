"""
The seccomp filter.

In addition to namespaces or Landlock, it refuses system calls that allocate memory which is not counted, that access other processes,
that a sandbox does not need, and all that are newer than this list. Calls of another instruction set kill the process.
"""

from __future__ import annotations

import ctypes
import struct

import kernel
from syscall_numbers import AARCH64, NEWEST, X86_64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

EPERM = 1
EINVAL = 22
ENOSYS = 38
ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
ERRNO = 0x00050000
MODE_FILTER = 2

X32_BIT = 0x40000000
NEW_NAMESPACES = 0x7E020000
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
SOL_SOCKET, SO_SNDBUF = 1, 7
SOCK_TYPES = 0xF
SOCK_STREAM = 1
SHARED_ANONYMOUS = 0x21
SET_IDS = 0o6000
WHOLE = 0xFFFFFFFF

# Offsets in `struct seccomp_data`.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
# Instructions of the filter machine.
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06

_NEVER = """
    ptrace process_vm_readv process_vm_writev kcmp process_madvise process_mrelease pidfd_getfd
    keyctl add_key request_key
    io_uring_setup io_uring_enter io_uring_register io_setup bpf userfaultfd perf_event_open
    mount umount2 pivot_root setns unshare chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr
    statmount listmount quotactl quotactl_fd
    kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff syslog acct
    sethostname setdomainname iopl ioperm modify_ldt settimeofday clock_settime clock_adjtime adjtimex
    memfd_create memfd_secret shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
    mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
    name_to_handle_at open_by_handle_at fanotify_init fanotify_mark lookup_dcookie nfsservctl uselib sysfs _sysctl vhangup
    move_pages migrate_pages mbind set_mempolicy set_mempolicy_home_node
    inotify_init inotify_init1 inotify_add_watch
""".split()
# These allocate kernel memory that no limit counts.
_CONFINING = "landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp".split()

# Without namespaces these reach what Landlock does not cover: unix sockets, metadata of files, other processes. A process that
# cannot leave the program's process group is killed with it. `sendmsg` can store descriptors where they are not counted.
_NEVER_ALONE = """
    socket connect bind listen sendmsg sendmmsg mknod mknodat
    setsid setpgid
""".split()
# Attributes: some are lists of who has access.
_ATTRIBUTES = "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat removexattrat".split()
_MODES_AND_OWNERS = "chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat".split()
_TIMES = "utime utimes futimesat utimensat".split()
# Which argument is the mode of a file. That of `openat2` is in memory, which a filter cannot read.
_MODES = {
    "chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "open": 2, "openat": 3, "mknod": 1, "mknodat": 2,
}  # fmt: skip
_OF_ANOTHER_PROCESS = """
    sched_setaffinity sched_setscheduler sched_setparam sched_setattr
""".split()


class Test:
    """Compares the low (or high) half of an argument, masked, with a value."""

    def __init__(self, argument: int, value: int, mask: int = WHOLE, equal: bool = True, high: bool = False) -> None:
        self.argument = argument
        self.value = value
        self.mask = mask
        self.equal = equal
        self.high = high


class Rule:
    """The action for a system call if all tests hold."""

    def __init__(self, name: str, action: int, tests: tuple = ()) -> None:
        self.name = name
        self.action = action
        self.tests = tests


def rules(
    network: bool,
    project: bool = False,
    writes: bool = False,
    alone: bool = False,
    owner: bool = False,
    landlock_abi: int = 99,
    pid: int = 0,
) -> list:
    """
    `project`: the project is mounted, and may contain unix sockets of processes outside. `writes`: it is writable, and no
    filter can tell its files from others. `alone`: without namespaces, Landlock is the
    boundary. `owner`: files and processes outside belong to the same user. `landlock_abi`: the version of Landlock in this kernel.
    """
    refuse = ERRNO | EPERM
    found = [Rule(name, refuse) for name in _NEVER]
    found.append(Rule("clone3", ERRNO | ENOSYS))
    found.append(Rule("clone", refuse, (Test(0, 0, mask=NEW_NAMESPACES, equal=False),)))
    # Descriptors of a single thread (CLONE_THREAD without CLONE_FILES, CLOSE_RANGE_UNSHARE) are not counted.
    found.append(Rule("clone", refuse, (Test(0, 0x10000, mask=0x10400),)))
    found.append(Rule("close_range", refuse, (Test(2, 2, mask=2),)))
    # Anonymous shared memory can outlive its mappings, and is not counted then.
    found.append(Rule("mmap", refuse, (Test(3, SHARED_ANONYMOUS, mask=SHARED_ANONYMOUS),)))
    # MAP_HUGETLB: scarce pages of the machine that are not counted for the process.
    found.append(Rule("mmap", refuse, (Test(3, 0x40000, mask=0x40000),)))
    # TIOCSTI and TIOCLINUX inject input into a terminal, TIOCSETD changes its line discipline.
    found += [Rule("ioctl", refuse, (Test(1, command),)) for command in (0x5412, 0x541C, 0x5423)]
    # F_SETLEASE, F_NOTIFY, F_SETDELEG: block or observe others that open a file, even a read-only one.
    found += [Rule("fcntl", refuse, (Test(1, command),)) for command in (1024, 1026, 1040)]
    # F_OFD_SETLK, F_OFD_SETLKW: locks that belong to no process; EINVAL, as on kernels without them. F_SETPIPE_SZ: memory that is not counted.
    found += [Rule("fcntl", ERRNO | EINVAL, (Test(1, command),)) for command in (37, 38)]
    found.append(Rule("fcntl", refuse, (Test(1, 1031),)))
    # PR_SET_DUMPABLE would hide memory from the supervisor.
    found.append(Rule("prctl", refuse, (Test(0, 4),)))
    found.append(Rule("personality", refuse, (Test(0, 0, equal=False), Test(0, WHOLE, equal=False))))
    # No setuid and setgid files, which others could execute.
    found += [Rule(name, refuse, (Test(mode, 0, SET_IDS, equal=False),)) for name, mode in _MODES.items()]
    found.append(Rule("openat2", ERRNO | ENOSYS))
    families = (() if project else (AF_UNIX,)) + ((AF_INET, AF_INET6) if network else ())
    found.append(Rule("socket", refuse, tuple(Test(0, family, equal=False) for family in families)))
    found.append(Rule("socketpair", refuse, (Test(0, AF_UNIX, equal=False),)))
    # SO_SNDBUF: sockets are counted with the default size.
    found.append(Rule("setsockopt", refuse, (Test(1, SOL_SOCKET), Test(2, SO_SNDBUF))))
    if alone or project:
        # A datagram socket of a pair could send to any address.
        found.append(Rule("socketpair", refuse, (Test(1, SOCK_STREAM, mask=SOCK_TYPES, equal=False),)))
    if alone or writes:
        found += [Rule(name, refuse) for name in _ATTRIBUTES]
    if writes or (alone and owner):
        found += [Rule(name, refuse) for name in _MODES_AND_OWNERS]
    found += _rules_on_others(refuse, alone, pid)
    if alone:
        found += _rules_alone(refuse, owner, landlock_abi, pid)
    return found


def rules_against_confining() -> list:
    """For a process that is restricted already: it cannot add rulesets or filters."""
    refuse = ERRNO | EPERM
    return [*(Rule(name, refuse) for name in _CONFINING), Rule("prctl", refuse, (Test(0, kernel.PR_SET_SECCOMP),))]


def _rules_on_others(refuse: int, alone: bool, pid: int) -> list:
    """A program can change scheduling and limits of itself only; in its own namespace, not of process 1, the supervisor."""

    def other(argument: int) -> Test:
        return Test(argument, 0, equal=False) if alone else Test(argument, 1)

    found = [Rule(name, refuse, (other(0),)) for name in _OF_ANOTHER_PROCESS]
    # For processes only: for users, 0 would mean all processes of this user.
    for name, of_a_process in (("setpriority", 0), ("ioprio_set", 1)):
        found += [Rule(name, refuse, (Test(0, of_a_process, equal=False),)), Rule(name, refuse, (other(1),))]
    own = (Test(0, pid, equal=False),) if alone else ()
    found.append(Rule("prlimit64", refuse, (other(0), *own)))
    return found


def _rules_alone(refuse: int, owner: bool, landlock_abi: int, pid: int) -> list:
    found = [Rule(name, refuse) for name in _NEVER_ALONE]
    # Commands of file systems work on read-only files too. Those of pipes and terminals start with 0x54.
    found.append(Rule("ioctl", refuse, (Test(1, 0x5400, mask=0xFFFFFF00, equal=False),)))
    found += [Rule("sendto", refuse, (Test(4, 0, equal=False, high=high),)) for high in (False, True)]
    if owner:
        found += [Rule(name, refuse) for name in _TIMES]
    if landlock_abi < 3:
        found.append(Rule("truncate", refuse))
    if landlock_abi < 6:
        # F_SETOWN and F_SETOWN_EX: the receiver of a descriptor's signals.
        found += [Rule("fcntl", refuse, (Test(1, command),)) for command in (8, 15)]
        found += [Rule(name, refuse) for name in ("pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill")]
        found.append(Rule("kill", refuse, (Test(0, 0, equal=False), Test(0, pid, equal=False))))
        found.append(Rule("tgkill", refuse, (Test(0, pid, equal=False),)))
    return found


def assemble(machine: str, refusals: list) -> bytes:
    """The filter as an array of `struct sock_filter`. Raises `KeyError` for an unknown machine."""
    architecture, numbers = {"x86_64": (0xC000003E, X86_64), "aarch64": (0xC00000B7, AARCH64)}[machine]
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, X32_BIT),
        (_RETURN, 0, 0, KILL_PROCESS),
        (_AT_LEAST, 0, 1, NEWEST + 1),
        (_RETURN, 0, 0, ERRNO | ENOSYS),
    ]
    by_number: dict = {}
    for rule in refusals:
        if rule.name in numbers:
            by_number.setdefault(numbers[rule.name], []).append(rule)
    for number, group in sorted(by_number.items()):
        body = [instruction for rule in group for instruction in _assemble_rule(rule)]
        if group[-1].tests:
            body.append((_RETURN, 0, 0, ALLOW))
        code += [(_EQUAL, 0, len(body), number), *body]
    code.append((_RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)


def _assemble_rule(rule: Rule) -> list:
    """A failing test jumps past the rule."""
    blocks = []
    for test in rule.tests:
        offset = _ARGUMENTS + 8 * test.argument + (4 if test.high else 0)
        block = [(_LOAD, 0, 0, offset)]
        if test.mask != WHOLE:
            block.append((_AND, 0, 0, test.mask))
        blocks.append((block, test))
    code: list = []
    left = sum(len(block) + 1 for block, _ in blocks) + 1
    for block, test in blocks:
        left -= len(block) + 1
        code += block
        code.append((_EQUAL, *((0, left) if test.equal else (left, 0)), test.value))
    return [*code, (_RETURN, 0, 0, rule.action)]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def apply(code: bytes) -> None:
    """Applies the filter to this process and its future children, permanently. Needs no privileges."""
    program = _Program(len(code) // 8, code)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl(kernel.PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program))
