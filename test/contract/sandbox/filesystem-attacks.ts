import { expect } from "vitest";
import type { Attack } from "./attack.ts";
import { blobOf, python, skillOf } from "./runs.ts";

const skills = [skillOf("victim", { "SKILL.md": "unchanged", "main.py": "def main(): return 1\n" }, "main.py")];
const blobs = [blobOf("blob:victim", "unchanged")];

/** Attacks on files of the host and on mounted files. */
export const filesystemAttacks: readonly Attack[] = [
  {
    tries: "read files of the host: in the home directory, of other users, world-readable, temporary",
    control: "succeeds",
    code: python`
      def attack(bait):
          for path in bait["files"]:
              attempt(path, lambda: read(path))
              attempt("by a detour: " + path, lambda: read("/workspace/../" + path))
    `,
  },
  {
    tries: "read them through symbolic links",
    control: "succeeds",
    code: python`
      import tempfile

      def attack(bait):
          for number, path in enumerate(bait["files"]):
              for place in ("/output", "/workspace", tempfile.gettempdir()):
                  link = "%s/link-%d" % (place, number)
                  if os.path.isdir(place):
                      os.symlink(path, link)
                      attempt(link, lambda: read(link))
    `,
    check: (_found, { host }) => expect(host.outputs.size).toBe(0),
  },
  {
    tries: "read them through /proc of every process it can see",
    control: "succeeds",
    ofProcesses: true,
    code: python`
      def attack(bait):
          for pid in ["self", "thread-self", *filter(str.isdigit, names("/proc"))]:
              for way in ("root", "cwd"):
                  for path in bait["files"]:
                      attempt("%s %s %s" % (pid, way, path), lambda: read("/proc/%s/%s%s" % (pid, way, path)))
    `,
  },
  {
    tries: "read them through inherited descriptors",
    code: python`
      def attack(bait):
          for number in range(3, 1024):
              try:
                  os.fstat(number)
              except OSError:
                  continue
              for path in bait["files"]:
                  attempt("%d %s" % (number, path), lambda: os.close(os.open(path[1:], os.O_RDONLY, dir_fd=number)))
              attempt("list %d" % number, lambda: os.listdir(number))
          attempt("nothing else", lambda: os.fstat(1023))
    `,
  },
  {
    tries: "open the host's files by handle, by O_PATH and by openat2",
    ofProcesses: true,
    code: python`
      def by_handle(path):
          handle = ctypes.create_string_buffer(136)
          ctypes.c_uint.from_buffer(handle).value = 128
          mount = ctypes.c_int()
          syscall("name_to_handle_at", -100, ctypes.c_char_p(path.encode()), handle, ctypes.byref(mount), 0)
          root = os.open("/", os.O_RDONLY)
          return syscall("open_by_handle_at", root, handle, os.O_RDONLY)

      def guessed_handle(inode):
          handle = ctypes.create_string_buffer(bytes([8, 0, 0, 0, 1, 0, 0, 0]) + inode.to_bytes(4, "little") + bytes(4), 136)
          root = os.open("/usr", os.O_RDONLY)
          return syscall("open_by_handle_at", root, handle, os.O_RDONLY)

      def by_path(path):
          found = os.open(path, os.O_PATH)
          return read("/proc/self/fd/%d" % found)

      def openat2(path):
          how = (ctypes.c_ulonglong * 3)(os.O_RDONLY, 0, 0)
          return os.read(syscall("openat2", -100, ctypes.c_char_p(path.encode()), how, 24), 100)

      def attack(bait):
          for path in bait["files"]:
              attempt("handle " + path, lambda: by_handle(path))
              attempt("O_PATH " + path, lambda: by_path(path))
              attempt("openat2 " + path, lambda: openat2(path))
          for inode in (2, 128, 256):
              attempt("guessed handle %d" % inode, lambda: guessed_handle(inode))
    `,
  },
  {
    tries: "find files of the host by walking the whole tree",
    code: python`
      def attack(bait):
          found = []
          for directory, directories, files in os.walk("/"):
              if directory == "/":
                  directories[:] = [name for name in directories if name not in ("proc", "usr", "lib", "lib64")]
              found += [os.path.join(directory, name) for name in directories + files if bait["token"] in name]
          if found:
              attempt("walk", lambda: found)
    `,
  },
  {
    tries: "write outside: to world-writable directories, the root, system directories, /etc, /dev, /run, /inside",
    control: "succeeds",
    code: python`
      import sys

      def attack(bait):
          places = [bait["writable"], "/", "/etc", "/usr", "/usr/bin", "/usr/local", "/bin", "/dev", "/run", "/var/tmp"]
          places += ["/inside", "/skills", "/skills/victim", "/blobs", "/opt", "/home", "/root", "/sys", "/proc", "/mnt"]
          for place in [*places, *sys.path]:
              if place and not place.startswith(("/workspace", "/tmp")):
                  attempt("file in " + place, lambda: write(place + "/written-" + bait["token"]))
                  attempt("directory in " + place, lambda: os.mkdir(place + "/made-" + bait["token"]))
          attempt("an existing file", lambda: write(bait["writable"] + "/file"))
          for path in ("/etc/passwd", "/etc/hosts", "/etc/resolv.conf", "/etc/ld.so.cache", sys.executable or "/bin/sh"):
              attempt(path, lambda: write(path))
    `,
    more: { skills, blobs },
  },
  {
    tries: "change skills and blobs: mode, times, owner, links, renames, truncation, attributes",
    code: python`
      def attack(bait):
          for path in ("/skills/victim/SKILL.md", "/blobs/blob:victim", "/blobs/victim"):
              attempt("chmod " + path, lambda: os.chmod(path, 0o777))
              attempt("utime " + path, lambda: os.utime(path, (1, 1)))
              attempt("truncate " + path, lambda: os.truncate(path, 0))
              attempt("append " + path, lambda: os.open(path, os.O_WRONLY | os.O_APPEND))
              attempt("read-write " + path, lambda: os.open(path, os.O_RDWR))
              attempt("remove " + path, lambda: os.remove(path))
              attempt("rename " + path, lambda: os.rename(path, "/workspace/moved"))
              attempt("rename over " + path, lambda: (write("/workspace/other"), os.rename("/workspace/other", path)))
              attempt("replace " + path, lambda: os.replace("/workspace/other", path))
              attempt("link over " + path, lambda: os.symlink("/etc/passwd", path + ".link"))
              attempt("lock out " + path, lambda: os.chmod(os.path.dirname(path), 0))
              if hasattr(os, "setxattr"):
                  attempt("attribute " + path, lambda: os.setxattr(path, "user.poison", b"1"))
              if hasattr(os, "chown"):
                  attempt("chown " + path, lambda: os.chown(path, 65534, 65534))
          attempt("rmdir", lambda: os.rmdir("/skills/victim"))
          attempt("rename of the mount", lambda: os.rename("/skills", "/other"))
          return [open("/skills/victim/SKILL.md").read(), open("/blobs/victim").read()]
    `,
    more: { skills, blobs },
    check: (found) => expect(found).toEqual(["unchanged", "unchanged"]),
  },
  {
    tries: "change them through a hard link, a mapping or a reopened descriptor",
    ofProcesses: true,
    code: python`
      import mmap

      def linked(path, target):
          os.link(path, target)
          os.chmod(target, 0o666)
          return write(target)

      def again(path):
          found = os.open(path, os.O_RDONLY)
          return os.open("/proc/self/fd/%d" % found, os.O_RDWR)

      def mapped(path):
          found = os.open(path, os.O_RDONLY)
          mmap.mmap(found, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)[0] = 0

      def attack(bait):
          for path in ("/skills/victim/SKILL.md", "/blobs/victim"):
              for target in ("/workspace/linked", "/output/linked", "/tmp/linked"):
                  attempt(path + " as " + target, lambda: linked(path, target))
              attempt("again " + path, lambda: again(path))
              attempt("mapped " + path, lambda: mapped(path))
    `,
    more: { skills, blobs },
    check: (_found, { host }) => expect(host.outputs.size).toBe(0),
  },
  {
    tries: "create a hard link to a file of the host",
    ofProcesses: true,
    code: python`
      def attack(bait):
          for path in bait["files"]:
              for place in ("/output/", "/workspace/"):
                  attempt(path + place, lambda: os.link(path, place + "taken"))
                  attempt("follow " + path + place, lambda: os.link(path, place + "taken2", follow_symlinks=True))
    `,
    check: (_found, { host }) => expect(host.outputs.size).toBe(0),
  },
  {
    tries: "reach the host from a deleted working directory",
    code: python`
      def attack(bait):
          os.mkdir("/workspace/gone")
          os.chdir("/workspace/gone")
          # Some systems keep it.
          observe("remove", lambda: os.rmdir("/workspace/gone"))
          for depth in range(1, 12):
              for path in bait["files"]:
                  attempt("%d %s" % (depth, path), lambda: read("../" * depth + path[1:]))
    `,
  },
];
