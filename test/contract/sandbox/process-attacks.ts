import { expect } from "vitest";
import type { Attack } from "./attack.ts";
import { processesCalled } from "./host-state.ts";
import { python } from "./runs.ts";

/** Attacks on other processes, of the host and of the sandbox itself. */
export const processAttacks: readonly Attack[] = [
  {
    tries: "read the environment of the host and of every process it can see",
    control: "succeeds",
    code: python`
      import subprocess

      def attack(bait):
          attempt("own", lambda: os.environ[bait["variable"]] if bait["variable"] in os.environ else os.stat("/absent"))
          for pid in ["self", "1", str(os.getppid()), str(bait["host"]), str(bait["process"]), *filter(str.isdigit, names("/proc"))]:
              for file in ("environ", "cmdline", "maps", "auxv"):
                  path = "/proc/%s/%s" % (pid, file)
                  observe(path, lambda: bait["variable"] in read(path))
          return [pid for pid in filter(str.isdigit, names("/proc")) if bait["variable"] in outcome(lambda: read("/proc/%s/environ" % pid))]
    `,
    check: (found) => expect(found).toEqual([]),
  },
  {
    tries: "kill, stop or control processes of the host",
    control: "succeeds",
    ofProcesses: true,
    code: python`
      import resource

      def attack(bait):
          for pid in (bait["process"], bait["host"]):
              attempt("look %d" % pid, lambda: os.kill(pid, 0))
          for pid in (bait["process"],):
              attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
              attempt("limits", lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (10, 10)))
              attempt("affinity", lambda: os.sched_setaffinity(pid, {0}))
              observe("descriptor", lambda: os.close(os.pidfd_open(pid)))
              attempt("signal by descriptor", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 0))
              attempt("group", lambda: os.killpg(os.getpgid(pid), 0))
              attempt("stop", lambda: os.kill(pid, signal.SIGSTOP))
              attempt("end", lambda: os.kill(pid, signal.SIGKILL))
    `,
  },
  {
    tries: "kill all processes it can",
    ofProcesses: true,
    ends: ["returned", "crashed"],
    code: python`
      def attack(bait):
          for number in (signal.SIGCONT, signal.SIGUSR1, signal.SIGHUP, signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
              observe("all %d" % number, lambda: in_child(lambda: os.kill(-1, number)))
              observe("first %d" % number, lambda: in_child(lambda: os.kill(1, number)))
              observe("group %d" % number, lambda: in_child(lambda: (os.setsid(), os.killpg(0, number))))
    `,
  },
  {
    tries: "kill or stop the supervisor",
    ofProcesses: true,
    ends: ["returned", "crashed", "limit"],
    more: { limits: { timeoutMs: 1500 } },
    code: python`
      def attack(bait):
          parent = os.getppid()
          for number in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
              for pid in {1, parent}:
                  observe("%d %d" % (pid, number), lambda: os.kill(pid, number))
          while True:
              signal.pause()
    `,
    check: (_found, { end }) => expect(end).not.toMatchObject({ type: "returned" }),
  },
  {
    tries: "slow down or limit the supervisor",
    ofProcesses: true,
    code: python`
      import resource

      def attack(bait):
          for pid in {1, os.getppid()}:
              attempt("idle %d" % pid, lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
              attempt("processors %d" % pid, lambda: os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))}))
              attempt("priority %d" % pid, lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid)))
              attempt("limit %d" % pid, lambda: resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)))
          attempt("user", lambda: os.setpriority(os.PRIO_USER, 0, os.getpriority(os.PRIO_USER, 0)))
    `,
  },
  {
    tries: "outlive the run as a daemon that ignores every signal",
    ofProcesses: true,
    code: python`
      def attack(bait):
          for _ in range(3):
              daemon(endless, "d" + bait["token"])
    `,
    check: (_found, _outcome, { bait }) => expect(processesCalled(`d${bait.token}`)).toEqual([]),
  },
  {
    tries: "outlive a run that timed out",
    ofProcesses: true,
    ends: ["limit"],
    more: { limits: { timeoutMs: 1500 } },
    code: python`
      def attack(bait):
          for _ in range(3):
              daemon(endless, "t" + bait["token"])
          endless()
    `,
    check: (_found, { end }, { bait }) => {
      expect(end).toEqual({ type: "limit", limit: "timeout" });
      expect(processesCalled(`t${bait.token}`)).toEqual([]);
    },
  },
  {
    tries: "outlive a program that exited without a result",
    ofProcesses: true,
    ends: ["crashed"],
    code: python`
      def attack(bait):
          daemon(endless, "c" + bait["token"])
          os._exit(0)
    `,
    check: (_found, _outcome, { bait }) => expect(processesCalled(`c${bait.token}`)).toEqual([]),
  },
  {
    tries: "outlive the run as a stopped process",
    ofProcesses: true,
    code: python`
      def attack(bait):
          daemon(lambda: os.kill(os.getpid(), signal.SIGSTOP), "s" + bait["token"])
    `,
    check: (_found, _outcome, { bait }) => expect(processesCalled(`s${bait.token}`)).toEqual([]),
  },
  {
    tries: "keep its output open after the result",
    ofProcesses: true,
    more: { limits: { timeoutMs: 300_000 } },
    code: python`
      def attack(bait):
          daemon(endless, "o" + bait["token"])
          print("printed before the end")
    `,
    check: (_found, { host }) => expect(host.stdout).toBe("printed before the end\n"),
  },
  {
    tries: "inspect other processes: ptrace, process_vm_readv, pidfd_getfd, kcmp, /proc/*/mem",
    ofProcesses: true,
    code: python`
      def look(pid):
          class Vector(ctypes.Structure):
              _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
          buffer = ctypes.create_string_buffer(8)
          local = Vector(ctypes.cast(buffer, ctypes.c_void_p), 8)
          remote = Vector(0x400000, 8)
          return syscall("process_vm_readv", pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)

      def take(pid):
          return syscall("pidfd_getfd", syscall("pidfd_open", pid, 0), 3, 0)

      def attack(bait):
          for pid in {1, os.getppid(), bait["host"], bait["process"]}:
              attempt("attach %d" % pid, lambda: syscall("ptrace", 16, pid, 0, 0))
              attempt("seize %d" % pid, lambda: syscall("ptrace", 0x4206, pid, 0, 0))
              attempt("read %d" % pid, lambda: look(pid))
              attempt("take %d" % pid, lambda: take(pid))
              attempt("compare %d" % pid, lambda: syscall("kcmp", os.getpid(), pid, 0, 0, 0))
              for file in ("mem", "environ", "maps", "fd/3", "fd/4", "fd/0", "cwd", "root", "syscall", "stack"):
                  path = "/proc/%d/%s" % (pid, file)
                  attempt(path, lambda: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK)))
                  attempt("link " + path, lambda: os.stat(path + "/" if file in ("cwd", "root") else "/proc/%d/fd/3" % pid))
          attempt("trace me", lambda: in_child(lambda: syscall("ptrace", 0, 0, 0, 0)))
    `,
  },
  {
    tries: "survive the death of its parents",
    ofProcesses: true,
    code: python`
      def attack(bait):
          observe("no signal of the parent's death", lambda: syscall("prctl", 1, 0, 0, 0, 0))
          observe("adopter", lambda: syscall("prctl", 36, 1, 0, 0, 0))
          observe("dumpable", lambda: syscall("prctl", 4, 1, 0, 0, 0))
          attempt("privileges again", lambda: syscall("prctl", 38, 0, 0, 0, 0))
          daemon(endless, "p" + bait["token"])
    `,
    check: (_found, _outcome, { bait }) => expect(processesCalled(`p${bait.token}`)).toEqual([]),
  },
];
