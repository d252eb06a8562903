"""What an attacker brings along. The text of an attack, `def attack(bait)`, follows."""

import os
import sys
import errno
import signal

try:
    import ctypes
except ImportError:
    ctypes = None

tried = {}
harmless = {}


def attempt(name, act):
    """Notes what came of an act that must not succeed."""
    tried[name] = outcome(act)


def observe(name, act):
    """Notes what came of an act that may succeed, as long as nothing comes of it."""
    harmless[name] = outcome(act)


def outcome(act):
    try:
        value = act()
    except OSError as error:
        return "refused: " + errno.errorcode.get(error.errno, str(error))
    except (ImportError, AttributeError, NotImplementedError, Absent) as error:
        return "absent: " + str(error)
    except BaseException as error:
        name = type(error).__name__
        if name in ("CalledProcessError", "TimeoutExpired"):
            return "refused: " + name
        return "broken: %s %s" % (name, error)
    return "got: " + repr(value)[:4000]


class Absent(Exception):
    pass


def read(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return os.read(descriptor, 4096).decode("latin-1")
    finally:
        os.close(descriptor)


def write(path, text="written by the inside\n"):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o666)
    try:
        return os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def names(directory):
    """Entries of a directory; none where it cannot be read."""
    try:
        return os.listdir(directory)
    except OSError:
        return []


def in_child(act):
    """For acts that may kill. Ends like the act did; being killed counts as a refusal."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, outcome(act).encode("utf-8", "replace")[:4000])
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as answers:
        answer = answers.read().decode()
    status = os.waitpid(child, 0)[1]
    if not answer:
        raise OSError("the child was ended with status %d" % status)
    if answer.startswith("refused: "):
        name = answer[9:]
        raise OSError(getattr(errno, name, 0), name)
    if not answer.startswith("got: "):
        raise Absent(answer) if answer.startswith("absent: ") else RuntimeError(answer)
    return answer[5:]


def daemon(act, name):
    """Double fork, own session where it can be had, all signals ignored, called `name` in the list of processes."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        outcome(os.setsid)
        if os.fork() == 0:
            for number in range(1, 32):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            rename(name)
            os.close(reader)
            os.close(writer)
            try:
                act()
            finally:
                os._exit(0)
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    os.read(reader, 1)
    os.close(reader)


def rename(name):
    """Takes a name by which the host can find this process."""
    syscall("prctl", 15, ctypes.c_char_p(name[:15].encode()), 0, 0, 0)


def endless():
    while True:
        signal.pause()


SYSCALLS = {  # x86-64, arm64
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "capget": (125, 90),
    "chroot": (161, 51),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsopen": (430, 430),
    "init_module": (175, 105),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "kill": (62, 129),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semget": (64, 190),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "shmget": (29, 194),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
LIBC = ctypes and ctypes.CDLL(None, use_errno=True)


def syscall(name, *arguments):
    """The kernel's own door, past every wrapper. `-1` is raised as the error that it stands for."""
    if LIBC is None or not hasattr(os, "uname") or not hasattr(LIBC, "syscall"):
        raise Absent("no system calls here")
    machine = os.uname().machine
    if machine not in ("x86_64", "aarch64"):
        raise Absent("no system calls are known for " + machine)
    number = name if isinstance(name, int) else SYSCALLS[name][machine == "aarch64"]
    if number is None:
        raise Absent("not on " + machine)
    ctypes.set_errno(0)
    converted = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *converted)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result


def main(bait):
    found = attack(bait)
    return {"tried": tried, "harmless": harmless, "found": found}
