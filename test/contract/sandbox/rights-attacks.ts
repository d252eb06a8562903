import { expect } from "vitest";
import type { Attack } from "./attack.ts";
import { python } from "./runs.ts";

/** Attacks that need root: devices, kernel settings, other users. */
export const rightsAttacks: readonly Attack[] = [
  {
    tries: "create devices and use those of the host",
    ofProcesses: true,
    code: python`
      import stat

      def attack(bait):
          for place in ("/workspace", "/output", "/tmp", "/dev"):
              attempt("memory in " + place, lambda: os.mknod(place + "/mem", 0o666 | stat.S_IFCHR, os.makedev(1, 1)))
              attempt("null in " + place, lambda: os.mknod(place + "/null2", 0o666 | stat.S_IFCHR, os.makedev(1, 3)))
              attempt("disk in " + place, lambda: os.mknod(place + "/disk", 0o666 | stat.S_IFBLK, os.makedev(254, 0)))
          for path in ("mem", "kmem", "port", "kmsg", "kvm", "fuse", "vda", "sda", "loop-control", "net/tun", "vsock", "uinput",
                       "vhost-net", "cpu/0/msr", "mapper/control", "console", "tty0", "hwrng", "rtc0", "snapshot", "autofs"):
              attempt("/dev/" + path, lambda: os.open("/dev/" + path, os.O_RDWR | os.O_NONBLOCK))
    `,
  },
  {
    tries: "change or read the kernel through /proc and /sys",
    ofProcesses: true,
    code: python`
      def attack(bait):
          for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/domainname",
                       "/proc/sys/vm/overcommit_memory", "/proc/sys/fs/binfmt_misc/register", "/proc/sys/kernel/modprobe",
                       "/proc/sysrq-trigger", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/kernel/randomize_va_space",
                       "/proc/irq/default_smp_affinity", "/proc/1/oom_score_adj", "/proc/1/comm", "/proc/1/uid_map",
                       "/proc/self/setgroups", "/proc/acpi/wakeup", "/proc/mtrr", "/proc/scsi/scsi",
                       "/sys/kernel/uevent_helper", "/sys/power/state", "/sys/kernel/mm/ksm/run", "/sys/fs/cgroup/cgroup.procs",
                       "/sys/kernel/security/apparmor/.remove"):
              attempt("write " + path, lambda: write(path, "1\n"))
          for path in ("/proc/kcore", "/proc/kmsg", "/proc/kpagecount", "/proc/vmallocinfo", "/proc/timer_list", "/proc/slabinfo",
                       "/sys/kernel/debug/gpio", "/sys/kernel/tracing/trace", "/sys/firmware/acpi/tables/DSDT",
                       "/sys/class/dmi/id/product_uuid"):
              attempt("read " + path, lambda: read(path))
    `,
  },
  {
    tries: "start programs of the host",
    ofProcesses: true,
    code: python`
      import subprocess

      def attack(bait):
          for name in ("git", "gcc", "cc", "make", "gdb", "docker", "podman", "perf", "strace", "apt-get", "dpkg", "rpm", "systemctl",
                       "ssh", "gpg", "node", "npm", "java", "bash", "sh", "perl", "curl", "cat"):
              for directory in ("/usr/bin", "/usr/local/bin", "/bin", "/usr/sbin"):
                  attempt(directory + "/" + name, lambda: subprocess.run([directory + "/" + name, "--version"], stdin=subprocess.DEVNULL))
          for path in ("/usr/lib/git-core/git", "/usr/lib/gcc", "/usr/src", "/usr/include", "/usr/share/doc", "/usr/local/share"):
              attempt(path, lambda: os.open(path, os.O_RDONLY))
          program = "/workspace/own"
          observe("a program of its own", lambda: write(program, "#!" + sys.executable + "\\nprint(1)\\n"))
    `,
  },
  {
    tries: "read paths of the host and its boot id",
    ofProcesses: true,
    code: python`
      def attack(bait):
          for process in ("self", "thread-self", "1", str(os.getpid())):
              for name in ("mountinfo", "mounts", "mountstats", "cgroup"):
                  attempt("%s %s" % (process, name), lambda: read("/proc/%s/%s" % (process, name)))
          for path in ("sys/kernel/random/boot_id", "mounts", "cmdline", "partitions", "locks", "net/unix", "sys/kernel/hostname"):
              attempt(path, lambda: read("/proc/" + path))
    `,
  },
  {
    tries: "gain privileges with a setuid program",
    ofProcesses: true,
    code: python`
      import glob, shutil, subprocess

      def attack(bait):
          for name, arguments in {"su": ["-c", "id"], "sudo": ["-n", "id"], "mount": ["-t", "tmpfs", "none", "/workspace"],
                                  "newgrp": ["root"], "pkexec": ["id"], "umount": ["/skills"]}.items():
              program = shutil.which(name)
              if program:
                  attempt(name, lambda: subprocess.run([program, *arguments], check=True, timeout=5, stdin=subprocess.DEVNULL))
          shell = "/workspace/shell"
          write(shell)
          for mode in (0o4755, 0o2755, 0o6755):
              attempt("chmod %o" % mode, lambda: os.chmod(shell, mode))
              attempt("open %o" % mode, lambda: os.close(os.open("%s-%o" % (shell, mode), os.O_CREAT | os.O_WRONLY, mode)))
              attempt("mknod %o" % mode, lambda: os.mknod("%s-node-%o" % (shell, mode), mode | 0o100000))
          attempt("openat2", lambda: syscall("openat2", -100, ctypes.c_char_p(b"/workspace/second"), (ctypes.c_ulonglong * 3)(0o101, 0o4755, 0), 24))
          attempt("chown", lambda: os.chown(shell, 0, 0))
          attempt("setuid", lambda: os.setuid(0))
          attempt("setgroups", lambda: os.setgroups([0]))
          attempt("setresuid", lambda: os.setresuid(0, 0, 0))
          header = (ctypes.c_uint * 2)(0x20080522, 0)
          rights = (ctypes.c_uint * 6)()
          syscall("capget", header, rights)
          return [syscall("prctl", 39, 0, 0, 0, 0), list(rights), os.getuid() != 0, os.geteuid() != 0]
    `,
    check: (found) => expect(found).toEqual([1, [0, 0, 0, 0, 0, 0], true, true]),
  },
];
