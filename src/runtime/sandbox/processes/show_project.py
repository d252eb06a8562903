"""
Runs a command as an ordinary user with access to a directory that belongs to root.

`show_project.py USER DIRECTORY PLACE COMMAND…`, started by root: mounts DIRECTORY at PLACE with the ids of USER and root exchanged (an
id-mapped mount, Linux 5.12), in the mount namespace of COMMAND, which runs as USER without capabilities. Exits with 1 and an error
message if that is not possible.
"""

import ctypes
import os
import struct
import sys

UNSHARE = {"x86_64": 272, "aarch64": 97}
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_REC, MS_SLAVE = 0x4000, 0x80000
OPEN_TREE_CLONE, OPEN_TREE_CLOEXEC = 1, os.O_CLOEXEC
MOVE_MOUNT_F_EMPTY_PATH, AT_EMPTY_PATH, AT_RECURSIVE = 4, 0x1000, 0x8000
MOUNT_ATTR_IDMAP = 0x100000
AT_FDCWD = -100
LAST_ID = 2**32 - 2

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def call(number, *arguments):
    passed = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return checked(libc.syscall(ctypes.c_long(number), *passed))


def checked(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def unshare(namespaces):
    call(UNSHARE[os.uname().machine], namespaces)


def user_namespace(user):
    """A user namespace, as a descriptor, that maps root to `user` and other ids to themselves."""
    ready, made = os.pipe()
    done, finish = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(finish)
            unshare(CLONE_NEWUSER)
            os.write(made, b"+")
            os.read(done, 1)
        finally:
            os._exit(0)
    os.close(made)
    os.close(done)
    try:
        if os.read(ready, 1) == b"":
            raise PermissionError(1, "no user namespace")
        others = [(1, user - 1), (user + 1, LAST_ID - user)]
        for kind in ("uid_map", "gid_map"):
            with open(f"/proc/{child}/{kind}", "w", encoding="ascii") as file:
                file.write(f"0 {user} 1\n" + "".join(f"{first} {first} {count}\n" for first, count in others if count > 0))
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(finish)
        os.waitpid(child, 0)


def show(user, directory, target):
    namespace = user_namespace(user)
    unshare(CLONE_NEWNS)
    # Mounts do not propagate to the host.
    checked(libc.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_SLAVE), None))
    # Recursively: files written below a mount point would otherwise be hidden by that mount.
    tree = call(OPEN_TREE, AT_FDCWD, os.fsencode(directory), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)
    attributes = struct.pack("=4Q", MOUNT_ATTR_IDMAP, 0, 0, namespace)
    call(MOUNT_SETATTR, tree, b"", AT_EMPTY_PATH | AT_RECURSIVE, attributes, len(attributes))
    call(MOVE_MOUNT, tree, b"", AT_FDCWD, os.fsencode(target), MOVE_MOUNT_F_EMPTY_PATH)
    os.close(tree)
    os.close(namespace)


def main(user, directory, target, *command):
    try:
        show(int(user), directory, target)
    except OSError as error:
        sys.exit(f"{directory} belongs to root and cannot be mounted for another user ({error.strerror}).")
    os.setgroups([])
    os.setresgid(int(user), int(user), int(user))
    os.setresuid(int(user), int(user), int(user))
    os.execv(command[0], command)


main(*sys.argv[1:])
