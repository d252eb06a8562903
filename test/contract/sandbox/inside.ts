import { once } from "node:events";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Json } from "../../../src/runtime/sandbox.ts";
import { usersOfSandboxes } from "./host-state.ts";
import { type More, type Script, codeRun, python, scriptRun, skillOf, skillRun } from "./runs.ts";
import { samples } from "./samples.ts";
import type { Trial } from "./tier.ts";

/** The environment of a program. */
export function describeInside(trial: Trial): void {
  const returns = (name: string, code: string, value: Json, more: More & { args?: Json } = {}): void => {
    it(name, () => trial.run(codeRun(code, more), ({ end }) => expect(end).toMatchObject({ type: "returned", value })));
  };

  describe("inside", trial.together, () => {
    returns(
      "the working directory is /workspace, empty and writable",
      python`
        import os

        def main():
            before = os.listdir(".")
            with open("note.txt", "w") as file:
                file.write("kept")
            with open("/workspace/note.txt") as file:
                return [os.getcwd(), before, file.read(), os.listdir("/output"), os.path.isdir("/project")]
      `,
      ["/workspace", [], "kept", [], false],
    );

    it("the host's environment and user are not visible", () => {
      const code = python`
        import os, sys

        def main():
            user = os.getuid() if hasattr(os, "getuid") else 1000
            return {"environment": dict(os.environ), "uid": user, "home": os.path.expanduser("~"), "argv": sys.argv}
      `;
      return trial.run(codeRun(code), ({ end }) => {
        expect(end.type).toBe("returned");
        const { environment, uid, home } = (
          end as unknown as { value: { environment: Record<string, string>; uid: number; home: string } }
        ).value;
        expect(Object.keys(environment).filter((name) => /^(ACP|npm_|NODE|VITEST|SSH|XDG|USER)/.test(name))).toEqual(
          [],
        );
        if (trial.tier.processes) expect(uid).not.toBe(0);
        expect(home).not.toBe(process.env["HOME"]);
      });
    });

    returns(
      "runtime is a module and a global with data of the run",
      python`
        import runtime as module

        def main(args):
            import time
            return [runtime is module, runtime.args, runtime.run_id, runtime.deadline > 0]
      `,
      [true, { a: 1 }, "run_0123456789", true],
      { args: { a: 1 }, runId: "run_0123456789" },
    );

    it("standard input is empty", () =>
      trial.run(codeRun("import sys\ndef main(): return sys.stdin.read() if sys.stdin else ''"), ({ end }) =>
        expect(end).toMatchObject({ type: "returned", value: "" }),
      ));
  });

  describe("mounted skills", trial.together, () => {
    const sync = skillOf(
      "salesforce.leads.sync",
      {
        "SKILL.md": "text",
        "code/main.py":
          "import utils\nfrom . import near\nprint('loaded')\ndef main(args): return [utils.who, near.who, args]\n",
        "code/utils.py": "who = 'sync'\n",
        "code/near.py": "who = 'near'\n",
      },
      "code/main.py",
    );
    const other = skillOf(
      "other.class.2nd",
      { "main.py": "import utils\ndef main(args=None): return utils.who\n", "utils.py": "who = 'other'\n" },
      "main.py",
    );
    const skills = [sync, other];

    it("run by their entrypoint", () =>
      trial.run(skillRun(sync, { n: 1 }), ({ end, host }) => {
        expect(end).toMatchObject({ type: "returned", value: ["sync", "near", { n: 1 }] });
        expect(host.stdout).toBe("loaded\n");
      }));

    returns(
      "are imported by name, each with its own modules",
      python`
        from skills.salesforce.leads.sync import main as sync
        from skills.other.class_._2nd import main as other

        def main():
            return [sync(1), other()]
      `,
      [["sync", "near", 1], "other"],
      { skills },
    );

    it("are loaded on first use", () => {
      const code = python`
        import skills.salesforce.leads.sync
        import sys

        def main():
            print("imported")
            sys.stdout.flush()
            return skills.salesforce.leads.sync.main(2)
      `;
      return trial.run(codeRun(code, { skills }), ({ end, host }) => {
        expect(end).toMatchObject({ type: "returned", value: ["sync", "near", 2] });
        expect(host.stdout).toBe("imported\nloaded\n");
      });
    });

    it("cannot be imported unless mounted; the error lists the mounted ones", () =>
      trial.run(codeRun("from skills.salesforce.leads import gone\ndef main(): pass", { skills }), ({ end }) => {
        expect(end).toMatchObject({ type: "raised" });
        expect(JSON.stringify(end)).toMatch(/ImportError|ModuleNotFoundError/);
        expect(JSON.stringify(end)).toContain("salesforce.leads.sync");
      }));

    returns(
      "are readable and not writable",
      python`
        import os

        def main():
            with open("/skills/salesforce.leads.sync/SKILL.md") as file:
                text = file.read()
            done = []
            for act in (
                lambda: open("/skills/salesforce.leads.sync/SKILL.md", "w"),
                lambda: open("/skills/salesforce.leads.sync/new", "w"),
                lambda: os.remove("/skills/salesforce.leads.sync/SKILL.md"),
                lambda: os.rename("/skills/salesforce.leads.sync", "/skills/moved"),
                lambda: os.mkdir("/skills/new"),
            ):
                try:
                    act()
                    done.append("possible")
                except OSError:
                    pass
            return [text, sorted(os.listdir("/skills")), done]
      `,
      ["text", ["other.class.2nd", "salesforce.leads.sync"], []],
      { skills },
    );
  });

  it("files in /output that are not stored are reported", () => {
    const code = python`
      import os

      def main():
          os.symlink("/skills", "/output/a link")
          os.symlink("/skills", "/output/two\nlines")
    `;
    return trial.run(codeRun(code), ({ host }) => {
      expect([...host.outputs]).toEqual([]);
      expect(host.stderr.split("\n").sort()).toEqual([
        "",
        expect.stringMatching(/^acp-skills: \/output\/"two\\nlines" was not saved: \S/),
        expect.stringMatching(/^acp-skills: \/output\/a link was not saved: \S/),
      ]);
    });
  });

  describe("a project", trial.together, () => {
    const project = (): string => {
      const directory = mkdtempSync(path.join(trial.bait.facts.given, "project-"));
      mkdirSync(path.join(directory, "below"));
      writeFileSync(path.join(directory, "below", "text"), "of the project");
      symlinkSync(trial.bait.facts.files[2] ?? "", path.join(directory, "link"));
      for (const made of [directory, path.join(directory, "below")]) {
        chmodSync(made, 0o755);
        // Owned by an ordinary user, not by root.
        if (process.getuid?.() === 0) chownSync(made, 65_534, 65_534);
      }
      return directory;
    };
    const code = python`
      import os

      def note(act):
          try:
              return act()
          except OSError:
              return "refused"

      def write(path):
          with open(path, "w") as file:
              file.write("written")
          return "written"

      def main():
          return [
              note(lambda: open("/project/below/text").read()),
              note(lambda: write("/project/below/new")),
              note(lambda: open("/project/link").read()),
              note(lambda: open("/project/../" + "etc/shadow").read()),
          ]
    `;

    it("with read permission is readable and not writable", () => {
      const directory = project();
      return trial.run(codeRun(code, { project: { directory, writable: false } }), ({ end }) => {
        expect(end).toMatchObject({ type: "returned", value: ["of the project", "refused", "refused", "refused"] });
        expect(readdirSync(path.join(directory, "below"))).toEqual(["text"]);
      });
    });

    it("with write permission is writable, and links in it do not lead outside", () => {
      const directory = project();
      return trial.run(codeRun(code, { project: { directory, writable: true } }), ({ end }) => {
        expect(end).toMatchObject({ type: "returned", value: ["of the project", "written", "refused", "refused"] });
        expect(readFileSync(path.join(directory, "below", "new"), "utf8")).toBe("written");
        expect(readdirSync(directory).sort()).toEqual(["below", "link"]);
      });
    });

    it("with read permission keeps times and flags, and cannot block others", () => {
      const directory = project();
      const file = path.join(directory, "below", "text");
      utimesSync(file, 1000, 1000);
      // The sandbox runs as the owner of the directory.
      chmodSync(directory, 0o700);
      if (process.getuid?.() === 0) chownSync(file, 65_534, 65_534);
      const touch = python`
        import array, fcntl, os

        def is_refused(act):
            try:
                act()
            except OSError:
                return True

        def main():
            file = os.open("/project/below/text", os.O_RDONLY)
            set_flags, no_dump = 0x40086602, array.array("l", [0x40])
            lease = lambda: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            return [is_refused(lambda: os.utime(file)), is_refused(lambda: fcntl.ioctl(file, set_flags, no_dump)), is_refused(lease)]
      `;
      return trial.run(codeRun(touch, { project: { directory, writable: false } }), ({ end }) => {
        expect(end).toMatchObject({ type: "returned", value: [true, true, true] });
        expect(statSync(file).mtimeMs).toBe(1_000_000);
      });
    });

    it("with write permission gets no setuid programs", () => {
      const directory = project();
      const plant = python`
        import os

        def main():
            with open("/project/below/planted", "w") as file:
                file.write("#!/bin/sh")
            for mode in (0o4755, 0o2755):
                try:
                    os.chmod("/project/below/planted", mode)
                except OSError:
                    pass
      `;
      return trial.run(codeRun(plant, { project: { directory, writable: true } }), ({ end }) => {
        expect(end).toMatchObject({ type: "returned" });
        expect(statSync(path.join(directory, "below", "planted")).mode & 0o6000).toBe(0);
      });
    });

    it.each([false, true])("does not give access to unix sockets in it (writable: %s)", async (writable) => {
      const directory = project();
      const place = path.join(directory, "socket");
      const server = createServer((client) => client.end("reached")).listen(place);
      await once(server, "listening");
      chmodSync(place, 0o777);
      const connect = python`
        import socket

        def note(act):
            try:
                act()
                return "done"
            except OSError as error:
                return type(error).__name__

        def main():
            return [
                note(lambda: socket.socket(socket.AF_UNIX).connect("/project/socket")),
                # It could still send to any name.
                note(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)),
                note(lambda: socket.socketpair()[0].connect("/project/socket")),
            ]
      `;
      try {
        await trial.run(codeRun(connect, { project: { directory, writable } }), ({ end }) =>
          expect(end).toMatchObject({
            type: "returned",
            value: ["PermissionError", "PermissionError", expect.not.stringMatching("done") as string],
          }),
        );
      } finally {
        server.close();
      }
    });

    it.each<[Script["language"], string]>([
      [
        "bash",
        "cat /project/below/text; echo new > /project/below/new; mv /project/below/new /project/below/made; cat < /dev/null",
      ],
      [
        "node",
        "import fs from 'node:fs'; process.stdout.write(fs.readFileSync('/project/below/text'));" +
          "fs.writeFileSync('/project/below/new', 'new'); fs.renameSync('/project/below/new', '/project/below/made');",
      ],
    ])("with write permission works in %s scripts", (language, text) => {
      const directory = project();
      const run = scriptRun(language, text, { project: { directory, writable: true } });
      return trial.run(run, ({ end, host }) => {
        expect([end, host.stdout]).toEqual([{ type: "exited", exitCode: 0 }, "of the project"]);
        expect(readdirSync(path.join(directory, "below")).sort()).toEqual(["made", "text"]);
      });
    });

    it("with read permission does not give access to a named pipe in it", () => {
      const directory = project();
      const pipe = path.join(directory, "pipe");
      execFileSync("mkfifo", ["-m", "666", pipe]);
      // With a reader, opening the pipe for writing would succeed if it were permitted.
      const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
      const useAll = python`
        import os, subprocess, sys

        def main():
            tried = []
            for act in (
                lambda: os.open("/project/pipe", os.O_WRONLY | os.O_NONBLOCK),
                lambda: os.open("/project/pipe", os.O_RDWR | os.O_NONBLOCK),
            ):
                try:
                    os.close(act())
                    tried.append("opened")
                except OSError:
                    tried.append("refused")
            for place in (os.getcwd(), os.environ["TMPDIR"]):
                with open(place + "/one", "w") as file:
                    file.write("x")
                os.makedirs(place + "/a/b")
                os.rename(place + "/one", place + "/a/b/one")
            with open(os.devnull, "w") as file:
                file.write("x")
            shown = subprocess.run([sys.executable, "-I", "-S", "-c", "print('out', file=open('/dev/stdout', 'w'))"], capture_output=True)
            return [tried, shown.stdout.decode()]
      `;
      return trial
        .run(codeRun(useAll, { project: { directory, writable: false } }), ({ end }) =>
          expect(end).toMatchObject({ type: "returned", value: [["refused", "refused"], "out\n"] }),
        )
        .finally(() => {
          closeSync(reader);
        });
    });

    // Only opens the files; a file that can be opened for writing could be changed.
    const openSettings = python`
      import os

      def main():
          opened = []
          for root, directories, files in os.walk("/proc"):
              if root == "/proc":
                  directories[:] = [name for name in directories if not name.isdigit() and "self" not in name]
              for name in files:
                  path = os.path.join(root, name)
                  try:
                      os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                      opened.append(path)
                  except OSError:
                      pass
          return opened
    `;

    it.each([false, true])("does not give access to kernel settings (writable: %s)", (writable) =>
      trial.run(codeRun(openSettings, { project: { directory: project(), writable } }), ({ end }) =>
        expect(end).toMatchObject({ type: "returned", value: [] }),
      ),
    );

    // Many of these settings are files owned by root.
    describe.skipIf(process.getuid?.() !== 0)("that belongs to root", () => {
      const ofRoot = (): string => {
        const directory = mkdtempSync(path.join(trial.bait.facts.given, "of-root-"));
        mkdirSync(path.join(directory, "below"));
        writeFileSync(path.join(directory, "below", "text"), "of the project", { mode: 0o600 });
        symlinkSync(trial.bait.facts.files[2] ?? "", path.join(directory, "link"));
        return directory;
      };
      const more = (writable: boolean): More => ({ project: { directory: ofRoot(), writable } });
      it.each([
        [false, "refused"],
        [true, "written"],
      ])("is used by another user, or refused (writable: %s)", (writable, written) => {
        const given = more(writable);
        return trial.run(codeRun(code, given), ({ end }) => {
          expect(end).toMatchObject({ type: "returned", value: ["of the project", written, "refused", "refused"] });
          const below = path.join(given.project?.directory ?? "", "below");
          expect(readdirSync(below)).toEqual(writable ? ["new", "text"] : ["text"]);
          for (const name of readdirSync(below)) expect(statSync(path.join(below, name)).uid).toBe(0);
        });
      });

      it("does not give access to kernel settings", () =>
        trial.run(codeRun(openSettings, more(true)), ({ end }) =>
          expect(end).toMatchObject({ type: "returned", value: [] }),
        ));

      it("runs as another user on the host", () => {
        const users: number[] = [];
        const cancel = new AbortController();
        const look = (): void => {
          users.push(...usersOfSandboxes());
          cancel.abort();
        };
        const check = (): void => {
          expect(users).not.toEqual([]);
          expect(users).not.toContain(0);
        };
        const options = { signal: cancel.signal, answers: { print: look } };
        return trial.run(codeRun(samples.printsAndWaits, more(true)), check, options);
      });
    });
  });

  it.each(["777", "755", "700"])("packages of mode %s are importable and not writable", (mode) => {
    const directory = mkdtempSync(path.join(trial.bait.facts.given, "packages-"));
    chmodSync(directory, Number.parseInt(mode, 8));
    writeFileSync(path.join(directory, "installed.py"), "value = 5\n");
    const code = python`
      import installed

      def main():
          try:
              open(installed.__file__, "a").write("poison")
          except OSError:
              return installed.value
    `;
    return trial.run(codeRun(code, { packages: directory }), ({ end }) => {
      expect(end).toMatchObject({ type: "returned", value: 5 });
      expect(readdirSync(directory)).toEqual(["installed.py"]);
      expect(readFileSync(path.join(directory, "installed.py"), "utf8")).toBe("value = 5\n");
    });
  });
}
