import { expect } from "vitest";
import type { Json } from "../../../src/runtime/sandbox.ts";
import type { Attack } from "./attack.ts";
import { blobOf, python } from "./runs.ts";
import type { Outcome } from "./tier.ts";

const blobs = [blobOf("blob:victim", "unchanged")];

function expectOutputs(expected: Record<string, string>): (found: Json, outcome: Outcome) => void {
  return (_found, { host }) =>
    expect(Object.fromEntries([...host.outputs].map(([path, content]) => [path, content.toString()]))).toEqual(
      expected,
    );
}

/** Attacks on the collection of `/output`, which returns only regular files of the program. */
export const outputAttacks: readonly Attack[] = [
  {
    tries: "output links: to files, to directories, out of the tree, in cycles",
    code: python`
      def attack(bait):
          for number, target in enumerate([*bait["files"], "/etc/passwd", "/proc/self/environ", "../../etc/passwd", "real"]):
              os.symlink(target, "/output/link-%d" % number)
          for number, target in enumerate(["/etc", "/", "/proc/self", "/output", "."]):
              os.symlink(target, "/output/directory-%d" % number)
          os.symlink("circle", "/output/circle")
          write("/output/real", "real")
    `,
    check: expectOutputs({ real: "real" }),
  },
  {
    tries: "replace /output with a link, or rename it",
    code: python`
      def attack(bait):
          write("/output/real", "real")
          attempt("rename", lambda: os.rename("/output", "/workspace/output"))
          attempt("remove", lambda: os.rmdir("/output"))
          attempt("link", lambda: os.symlink("/etc", "/output"))
          attempt("over", lambda: (os.mkdir("/workspace/other"), os.rename("/workspace/other", "/output")))
    `,
    check: expectOutputs({ real: "real" }),
  },
  {
    tries: "output other files as hard links, and one file under two names",
    ofProcesses: true,
    code: python`
      def attack(bait):
          write("/output/real", "real")
          for path in ("/blobs/victim", "/inside/program.py", "/etc/passwd", "/usr/bin/env", "/proc/self/environ"):
              attempt(path, lambda: os.link(path, "/output/linked"))
          write("/output/first", "twice")
          observe("second", lambda: os.link("/output/first", "/output/second"))
          write("/workspace/outside", "outside")
          observe("outside", lambda: os.link("/workspace/outside", "/output/outside"))
    `,
    more: { blobs },
    check: expectOutputs({ real: "real" }),
  },
  {
    tries: "block collecting: pipes, sockets, a file and a directory without permissions",
    ofProcesses: true,
    code: python`
      import socket

      def attack(bait):
          write("/output/real", "real")
          observe("pipe", lambda: os.mkfifo("/output/pipe"))
          observe("pipe without rights", lambda: os.mkfifo("/output/pipe-without-rights", 0))
          observe("socket", lambda: socket.socket(socket.AF_UNIX).bind("/output/socket"))
          os.mkdir("/output/locked")
          write("/output/locked/file", "locked")
          observe("locked", lambda: os.chmod("/output/locked", 0))
          write("/output/unreadable", "unreadable")
          observe("unreadable", lambda: os.chmod("/output/unreadable", 0))
          if os.path.exists("/output/pipe"):
              reader = os.open("/output/pipe", os.O_RDONLY | os.O_NONBLOCK)
              writer = os.open("/output/pipe", os.O_WRONLY | os.O_NONBLOCK)
              os.write(writer, b"x" * 1000)
    `,
    check: (_found, { host }) => {
      expect(host.outputs.get("real")?.toString()).toBe("real");
      for (const path of host.outputs.keys()) expect(["real", "locked/file", "unreadable"]).toContain(path);
    },
  },
  {
    tries: "replace files with pipes and links while they are collected",
    ofProcesses: true,
    code: python`
      def swap():
          while True:
              for number in range(40):
                  path = "/output/f%d" % number
                  for act in (lambda: os.symlink("/etc/passwd", path + "~"), lambda: os.rename(path + "~", path),
                              lambda: os.mkfifo(path + "~"), lambda: os.rename(path + "~", path),
                              lambda: write(path + "~", "real"), lambda: os.rename(path + "~", path)):
                      try:
                          act()
                      except OSError:
                          pass

      def attack(bait):
          for number in range(40):
              write("/output/f%d" % number, "real")
          daemon(swap, bait["token"])
    `,
    check: (_found, { host }) => {
      for (const content of host.outputs.values()) expect(["", "real"]).toContain(content.toString());
    },
  },
  {
    tries: "output a file that keeps growing",
    ofProcesses: true,
    code: python`
      def grow():
          descriptor = os.open("/output/growing", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
          while True:
              try:
                  os.write(descriptor, b"x" * 65536)
              except OSError:
                  os.ftruncate(descriptor, 0)

      def attack(bait):
          daemon(grow, bait["token"])
    `,
    ends: ["returned", "limit"],
  },
  {
    tries: "output a sparse file of a terabyte",
    ofProcesses: true,
    ends: ["returned", "raised", "limit"],
    code: python`
      def attack(bait):
          write("/output/real", "real")
          observe("sparse", lambda: os.truncate("/output/real", 1 << 40))
          with open("/output/holes", "wb") as file:
              file.truncate(1 << 32)
    `,
    check: (_found, { host }) => {
      const bytes = [...host.outputs.values()].reduce((sum, { length }) => sum + length, 0);
      expect(bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
    },
  },
  {
    tries: "output names that are paths, commands or not UTF-8",
    code: python`
      names = [b"\xff\xfe", b"new\nline", b"\x1b[31mred", b"..\\up", b"C:\\windows", b"-rf", b"$(id)", b"a" * 255, b"caf\xc3\xa9", b"\xe2\x80\xaeexe.txt", b"...", b"nul", b" "]

      def attack(bait):
          for name in names:
              observe(repr(name), lambda: os.close(os.open(b"/output/" + name, os.O_CREAT | os.O_WRONLY)))
          write("/output/real", "real")
    `,
    check: (_found, { host }) => {
      expect(host.outputs.get("real")?.toString()).toBe("real");
      for (const path of host.outputs.keys()) {
        expect(path.split("/")).not.toContain("..");
        expect(path).toMatch(/^[^/\0\ufffd][^\0\ufffd]*$/);
      }
    },
  },
  {
    tries: "output paths longer than the limit",
    ends: ["returned", "limit"],
    code: python`
      def attack(bait):
          write("/output/real", "real")
          os.chdir("/output")
          for depth in range(200):
              os.mkdir("d" * 100)
              os.chdir("d" * 100)
          observe("file", lambda: write("deepest", "deepest"))
    `,
    check: (_found, { host }) => expect(host.outputs.get("real")?.toString()).toBe("real"),
  },
  {
    tries: "output 15,000 files",
    ends: ["returned", "limit"],
    code: python`
      def attack(bait):
          for number in range(15_000):
              os.close(os.open("/output/%d" % number, os.O_CREAT | os.O_WRONLY))
    `,
    check: (_found, { host }) => expect(host.outputs.size).toBeLessThanOrEqual(100),
  },
];
