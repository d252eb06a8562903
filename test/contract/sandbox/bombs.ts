import { expect } from "vitest";
import type { Attack } from "./attack.ts";
import { processesCalled } from "./host-state.ts";
import { python } from "./runs.ts";

const megabyte = 1024 * 1024;

/** Attacks that exhaust resources. */
export const bombs: readonly Attack[] = [
  {
    tries: "fork forever",
    ofProcesses: true,
    ends: ["limit", "raised", "crashed"],
    more: { limits: { timeoutMs: 4000 } },
    code: python`
      def attack(bait):
          rename("b" + bait["token"])
          while True:
              os.fork()
    `,
    check: (_found, { end }, { bait }) => {
      expect(end).toMatchObject(
        end.type === "limit" ? { limit: expect.stringMatching("processes|timeout") as string } : {},
      );
      expect(processesCalled(`b${bait.token}`)).toEqual([]);
    },
  },
  {
    tries: "fork forever, from new sessions and threads",
    ofProcesses: true,
    ends: ["limit", "raised", "crashed"],
    more: { limits: { timeoutMs: 4000 } },
    code: python`
      import threading

      def bomb():
          while True:
              try:
                  if os.fork() == 0:
                      os.setsid()
              except OSError:
                  pass

      def attack(bait):
          rename("e" + bait["token"])
          while True:
              try:
                  threading.Thread(target=bomb, daemon=True).start()
              except RuntimeError:
                  pass
    `,
    check: (_found, _outcome, { bait }) => expect(processesCalled(`e${bait.token}`)).toEqual([]),
  },
  {
    tries: "allocate memory that no process owns: pipes, sockets, shared mappings, memory files",
    ofProcesses: true,
    ends: ["returned", "limit", "raised", "crashed"],
    more: { limits: { timeoutMs: 6000, memoryBytes: 96 * 1024 * 1024 } },
    code: python`
      import fcntl, mmap, socket

      def attack(bait):
          kept = []
          def pipes():
              while len(kept) < 4000:
                  reader, writer = os.pipe()
                  kept.append((reader, writer))
                  os.set_blocking(writer, False)
                  try:
                      fcntl.fcntl(writer, 1031, 1 << 20)
                  except OSError:
                      pass
                  try:
                      while True:
                          os.write(writer, bytes(65536))
                  except BlockingIOError:
                      pass
          def sockets():
              while len(kept) < 4000:
                  pair = socket.socketpair()
                  kept.append(pair)
                  pair[0].setblocking(False)
                  try:
                      while True:
                          pair[0].send(bytes(65536))
                  except BlockingIOError:
                      pass
          attempt("pipes", pipes)
          attempt("sockets", sockets)
          attempt("memfd", lambda: syscall("memfd_create", ctypes.c_char_p(b"x"), 0))
          def mappings():
              while len(kept) < 4000:
                  mapping = mmap.mmap(-1, 1 << 20)
                  kept.append(mapping)
                  for at in range(0, 1 << 20, 4096):
                      mapping[at] = 1
          attempt("mappings", mappings)
    `,
  },
  {
    tries: "allocate kernel memory with file locks",
    ofProcesses: true,
    ends: ["limit"],
    code: python`
      import fcntl, tempfile

      def attack(bait):
          files = [tempfile.TemporaryFile() for _ in range(50)]
          for file in files:
              for at in range(400, 0, -1):
                  fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * at)
          endless()
    `,
    check: (_found, { end }) => expect(end).toEqual({ type: "limit", limit: "memory" }),
  },
  {
    tries: "allocate kernel memory with empty mappings",
    ofProcesses: true,
    ends: ["limit"],
    more: { limits: { memoryBytes: 48 * megabyte } },
    code: python`
      LIBC.mmap.argtypes = [ctypes.c_long] * 6

      def attack(bait):
          for _ in range(8):
              if os.fork() == 0:
                  for count in range(65_000):
                      LIBC.mmap(0, 4096, count % 2, 0x22, -1, 0)
                  endless()
          endless()
    `,
    check: (_found, { end }) => expect(end).toEqual({ type: "limit", limit: "memory" }),
  },
  {
    tries: "allocate memory in the sockets of many processes",
    ofProcesses: true,
    ends: ["returned", "limit", "raised", "crashed"],
    more: { limits: { timeoutMs: 6000, memoryBytes: 96 * megabyte } },
    code: python`
      import socket

      def fill(kept):
          filled = 0
          try:
              while len(kept) < 2000:
                  pair = socket.socketpair()
                  kept.append(pair)
                  for one in pair:
                      one.setblocking(False)
                      try:
                          while True:
                              filled += one.send(bytes(65536))
                      except BlockingIOError:
                          pass
          except OSError:
              pass
          return filled

      def attack(bait):
          reader, writer = os.pipe()
          children = 0
          try:
              for _ in range(30):
                  if os.fork() == 0:
                      kept = []
                      os.write(writer, b"%12d" % fill(kept))
                      endless()
                  children += 1
          except OSError:
              pass
          return sum(int(os.read(reader, 12)) for _ in range(children))
    `,
    check: (found) => expect(found ?? 0).toBeLessThanOrEqual(2 * 96 * megabyte),
  },
  {
    tries: "open file descriptors forever",
    ofProcesses: true,
    code: python`
      def many():
          kept = []
          while len(kept) < 100_000:
              kept.append(os.open("/", os.O_RDONLY))

      def attack(bait):
          attempt("many", lambda: in_child(many))
    `,
  },
  {
    tries: "exhaust the user's timers and signals",
    ofProcesses: true,
    code: python`
      def attack(bait):
          library = ctypes.CDLL(None, use_errno=True)
          timer = ctypes.c_void_p()

          def many():
              for _ in range(5000):
                  if library.timer_create(1, None, ctypes.byref(timer)) != 0:
                      raise OSError(ctypes.get_errno(), "timer_create")

          attempt("timers", many)
    `,
  },
  {
    tries: "print forever from many processes",
    ofProcesses: true,
    ends: ["limit"],
    code: python`
      def attack(bait):
          for _ in range(4):
              os.fork()
          while True:
              os.write(1, b"\x1b[2J" * 10_000)
    `,
    check: (_found, { end, host }) => {
      expect(end).toEqual({ type: "limit", limit: "output" });
      expect(host.printedBytes).toBeLessThanOrEqual(1024 * 1024);
    },
  },
  {
    tries: "use all processors with many processes",
    ofProcesses: true,
    ends: ["limit"],
    more: { limits: { timeoutMs: 1500 } },
    code: python`
      def attack(bait):
          for _ in range(4):
              os.fork()
          while True:
              pass
    `,
    check: (_found, { end }) => expect(end).toEqual({ type: "limit", limit: "timeout" }),
  },
];
