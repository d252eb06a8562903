import { existsSync } from "node:fs";
import { expect } from "vitest";
import type { Attack } from "./attack.ts";
import { processesCalled } from "./host-state.ts";
import { python } from "./runs.ts";

/** Attacks on the kernel by system calls that a sandbox must not allow. */
export const kernelAttacks: readonly Attack[] = [
  {
    tries: "create namespaces",
    ofProcesses: true,
    code: python`
      def attack(bait):
          kinds = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000, "uts": 0x4000000,
                   "cgroup": 0x2000000, "time": 0x80}
          for name, flag in kinds.items():
              attempt("unshare " + name, lambda: in_child(lambda: syscall("unshare", flag)))
              attempt("unshare user and " + name, lambda: in_child(lambda: syscall("unshare", flag | kinds["user"])))
              if name != "time":
                  attempt("clone " + name, lambda: in_child(lambda: syscall("clone", flag | 17, 0, 0, 0, 0)))
                  attempt("clone user and " + name, lambda: in_child(lambda: syscall("clone", flag | kinds["user"] | 17, 0, 0, 0, 0)))
          arguments = (ctypes.c_ulonglong * 11)(kinds["user"], 0, 0, 0, 17)
          attempt("clone3", lambda: in_child(lambda: syscall("clone3", arguments, 88)))
          for name in ("user", "mnt", "pid", "net"):
              for pid in ("self", "1"):
                  attempt("setns %s %s" % (pid, name), lambda: syscall("setns", os.open("/proc/%s/ns/%s" % (pid, name), os.O_RDONLY), 0))
    `,
  },
  {
    tries: "mount, move and change the root directory",
    ofProcesses: true,
    code: python`
      def text(value):
          return ctypes.c_char_p(value.encode())

      def attack(bait):
          os.makedirs("/workspace/at", exist_ok=True)
          attempt("tmpfs", lambda: syscall("mount", text("none"), text("/workspace/at"), text("tmpfs"), 0, 0))
          attempt("proc", lambda: syscall("mount", text("none"), text("/workspace/at"), text("proc"), 0, 0))
          attempt("bind", lambda: syscall("mount", text("/"), text("/workspace/at"), 0, 4096, 0))
          attempt("remount", lambda: syscall("mount", 0, text("/skills"), 0, 32 | 4096, 0))
          for place in ("/skills", "/blobs", "/proc", "/tmp", "/output", "/usr", "/"):
              attempt("umount " + place, lambda: syscall("umount2", text(place), 2))
          attempt("pivot_root", lambda: syscall("pivot_root", text("/workspace"), text("/workspace/at")))
          attempt("chroot", lambda: syscall("chroot", text("/workspace")))
          attempt("fsopen", lambda: syscall("fsopen", text("tmpfs"), 0))
          attempt("open_tree", lambda: syscall("open_tree", -100, text("/"), 1))
          attempt("move_mount", lambda: syscall("move_mount", -100, text("/usr"), -100, text("/workspace/at"), 0))
          attributes = (ctypes.c_ulonglong * 4)(0, 1, 0, 0)
          attempt("mount_setattr", lambda: syscall("mount_setattr", -100, text("/skills"), 0, attributes, 32))
          attempt("swapon", lambda: syscall("swapon", text("/workspace/at"), 0))
          attempt("quotactl", lambda: syscall("quotactl", 0x80000200, text("/dev/vda"), 0, 0))
          attempt("fanotify", lambda: syscall("fanotify_init", 0, 0))
    `,
  },
  {
    tries: "use parts of the kernel with many vulnerabilities: io_uring, bpf, perf, userfaultfd, keyrings, modules",
    control: "succeeds",
    ofProcesses: true,
    code: python`
      def attack(bait):
          buffer = ctypes.create_string_buffer(256)
          attempt("io_uring", lambda: syscall("io_uring_setup", 8, buffer))
          attempt("bpf map", lambda: syscall("bpf", 0, buffer, 72))
          attempt("bpf load", lambda: syscall("bpf", 5, buffer, 72))
          event = ctypes.create_string_buffer((0).to_bytes(4, "little") + (112).to_bytes(4, "little"), 112)
          attempt("perf", lambda: syscall("perf_event_open", event, 0, -1, -1, 0))
          attempt("userfaultfd", lambda: syscall("userfaultfd", 1))
          attempt("userfaultfd device", lambda: os.open("/dev/userfaultfd", os.O_RDWR))
          attempt("keyctl session", lambda: syscall("keyctl", 0, -3, 1))
          attempt("keyctl join", lambda: syscall("keyctl", 1, 0))
          attempt("add_key", lambda: syscall("add_key", ctypes.c_char_p(b"user"), ctypes.c_char_p(b"k"), buffer, 8, -4))
          attempt("request_key", lambda: syscall("request_key", ctypes.c_char_p(b"user"), ctypes.c_char_p(b"k"), 0, 0))
          attempt("memfd_secret", lambda: syscall("memfd_secret", 0))
          attempt("memfd", lambda: syscall("memfd_create", ctypes.c_char_p(b"x"), 0))
          attempt("init_module", lambda: syscall("init_module", buffer, 256, ctypes.c_char_p(b"")))
          attempt("finit_module", lambda: syscall("finit_module", 0, ctypes.c_char_p(b""), 0))
          attempt("delete_module", lambda: syscall("delete_module", ctypes.c_char_p(b"x"), 0))
          attempt("kexec", lambda: syscall("kexec_load", 0, 0, 0, 0))
          attempt("modify_ldt", lambda: syscall("modify_ldt", 1, buffer, 16))
          attempt("madvise of others", lambda: syscall("process_madvise", 0, 0, 0, 0, 0))
    `,
  },
  {
    tries: "allocate kernel memory without a limit: rulesets, filters, watches, queues, large pipes",
    control: "succeeds",
    ofProcesses: true,
    code: python`
      import fcntl, struct, tempfile

      def attack(bait):
          attributes = ctypes.create_string_buffer(struct.pack("<Q", 1))
          attempt("a ruleset of Landlock", lambda: syscall(444, attributes, 8, 0))
          attempt("a rule of Landlock", lambda: syscall(445, 0, 1, attributes, 0))
          attempt("confined by Landlock", lambda: syscall(446, 0, 0))
          program = ctypes.create_string_buffer(struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000))
          filter = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 1, ctypes.addressof(program)))
          attempt("a filter", lambda: in_child(lambda: syscall("prctl", 22, 2, filter, 0, 0)))
          attempt("a filter by its other call", lambda: in_child(lambda: syscall({"x86_64": 317}.get(os.uname().machine, 277), 1, 0, filter)))
          attempt("a watch", lambda: syscall({"x86_64": 294}.get(os.uname().machine, 26), 0))
          file = tempfile.TemporaryFile()
          attempt("a lock of nobody's", lambda: fcntl.fcntl(file, 37, struct.pack("=hhxxxxqqixxxx", 1, 0, 0, 1, 0)))
          attempt("a large pipe", lambda: fcntl.fcntl(os.pipe()[0], 1031, 1 << 20))
          observe("a lock of its own", lambda: fcntl.lockf(file, fcntl.LOCK_EX, 1, 8))
    `,
  },
  {
    tries: "control the machine: time, name, ports, log, accounting, reboot",
    ofProcesses: true,
    code: python`
      import time

      def attack(bait):
          attempt("time", lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()))
          attempt("hostname", lambda: syscall("sethostname", ctypes.c_char_p(b"owned"), 5))
          attempt("iopl", lambda: syscall("iopl", 3))
          attempt("ioperm", lambda: syscall("ioperm", 0x80, 1, 1))
          attempt("log", lambda: syscall("syslog", 3, ctypes.create_string_buffer(100), 100))
          attempt("accounting", lambda: syscall("acct", ctypes.c_char_p(b"/workspace/a")))
          attempt("restart", lambda: syscall("reboot", 0xFEE1DEAD, 672274793, 0, 0))
          attempt("priority", lambda: os.nice(-5))
          attempt("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
    `,
  },
  {
    tries: "use other system call ABIs: 32 bits, x32",
    ofProcesses: true,
    // The system call must be refused, not the executable page.
    check: (_found, { end }) => {
      const { harmless } = (end as unknown as { value: { harmless: Record<string, string> } }).value;
      for (const outcome of Object.values(harmless)) expect(outcome).toMatch(/^got: '\d+'$/);
    },
    code: python`
      import mmap

      CODES = {
          "getpid by int 0x80": b"\xb8\x14\x00\x00\x00\xcd\x80\xc3",
          "socket by int 0x80": b"\x53\xb8\x67\x01\x00\x00\xbb\x28\x00\x00\x00\xb9\x01\x00\x00\x00\x31\xd2\xcd\x80\x5b\xc3",
          "getpid by x32": b"\xb8\x27\x00\x00\x40\x0f\x05\xc3",
          "ptrace by x32": b"\xb8\x09\x02\x00\x40\x31\xff\x0f\x05\xc3",
      }

      def call(code):
          flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
          page = mmap.mmap(-1, 4096, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
          page.write(code)
          address = ctypes.addressof(ctypes.c_char.from_buffer(page))
          result = ctypes.CFUNCTYPE(ctypes.c_long)(address)()
          if ctypes.c_int(result).value < 0:
              raise OSError(-ctypes.c_int(result).value, "refused")
          return result

      def attack(bait):
          if os.uname().machine == "x86_64":
              observe("the way there", lambda: in_child(lambda: call(b"\xb8\x27\x00\x00\x00\x0f\x05\xc3")))
          for name, code in CODES.items():
              if os.uname().machine != "x86_64":
                  attempt(name, lambda: syscall("iopl", 0))
              else:
                  attempt(name, lambda: in_child(lambda: call(code)))
    `,
  },
  {
    tries: "inject characters into a terminal",
    ofProcesses: true,
    code: python`
      import fcntl, pty, termios

      def attack(bait):
          attempt("controlling terminal", lambda: os.open("/dev/tty", os.O_RDWR))
          for descriptor in (0, 1, 2):
              attempt("TIOCSTI %d" % descriptor, lambda: fcntl.ioctl(descriptor, termios.TIOCSTI, b"x"))
              attempt("TIOCLINUX %d" % descriptor, lambda: fcntl.ioctl(descriptor, 0x541C, b"\x02"))

          def own():
              master, slave = pty.openpty()
              os.setsid()
              fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
              fcntl.ioctl(slave, termios.TIOCSTI, b"x")

          attempt("TIOCSTI of its own terminal", lambda: in_child(own))
          attempt("with the upper half set", lambda: in_child(lambda: own_upper()))

      def own_upper():
          master, slave = pty.openpty()
          os.setsid()
          fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
          number = {"x86_64": 16, "aarch64": 29}[os.uname().machine]
          return syscall(number, slave, 0x100000000 | termios.TIOCSTI, ctypes.c_char_p(b"x"))
    `,
  },
  {
    tries: "leave System V objects, queues and shared memory",
    ofProcesses: true,
    code: python`
      def attack(bait):
          attempt("shared memory", lambda: syscall("shmget", 0x5EED0001, 4096, 0o1666))
          attempt("message queue", lambda: syscall("msgget", 0x5EED0001, 0o1666))
          attempt("semaphores", lambda: syscall("semget", 0x5EED0001, 1, 0o1666))
          attempt("queue", lambda: syscall("mq_open", ctypes.c_char_p(b"x" + bait["token"].encode()), 0o102, 0o666, 0))
          attempt("/dev/mqueue", lambda: write("/dev/mqueue/" + bait["token"]))
          observe("/dev/shm", lambda: write("/dev/shm/" + bait["token"]))
    `,
    check: (_found, _outcome, { bait }) => {
      for (const directory of ["/dev/shm", "/dev/mqueue"]) {
        expect(existsSync(`${directory}/${bait.token}`)).toBe(false);
      }
    },
  },
  {
    tries: "see or address processes of the host by id",
    ofProcesses: true,
    code: python`
      def attack(bait):
          seen = []
          for pid in filter(str.isdigit, names("/proc")):
              try:
                  seen.append(read("/proc/%s/cmdline" % pid))
              except OSError:
                  pass
          return {"seen": "\n".join(seen), "pid": os.getpid(), "parent": os.getppid()}
    `,
    check: (found, _outcome, { bait }) => {
      const { seen } = found as { seen: string };
      expect(seen).not.toContain(bait.token);
      expect(seen).not.toContain("vitest");
    },
  },
  {
    tries: "escape its restrictions by starting programs",
    ofProcesses: true,
    code: python`
      import shutil, subprocess

      def attack(bait):
          for command in (["unshare", "-Ur", "true"], ["unshare", "-rn", "true"], ["nsenter", "-t", "1", "-a", "true"],
                          ["setpriv", "--reuid=0", "true"], ["chroot", "/", "true"], ["mount", "--bind", "/usr", "/workspace"],
                          ["bwrap", "--ro-bind", "/", "/", "true"], ["setsid", "-c", "su"], ["dmesg"], ["strace", "-p", "1"]):
              if shutil.which(command[0]):
                  attempt(" ".join(command), lambda: subprocess.run(command, check=True, timeout=5, stdin=subprocess.DEVNULL))
          daemon(endless, "u" + bait["token"])
    `,
    check: (_found, _outcome, { bait }) => expect(processesCalled(`u${bait.token}`)).toEqual([]),
  },
];
