import {
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { guardedAtTop, guardedEverywhere } from "../../../src/base/paths/guarded-names.ts";
import { codeRun, python } from "./runs.ts";
import type { Trial } from "./tier.ts";

const there: Readonly<Record<string, string>> = {
  ".git/hooks/sample": "hook",
  ".git/config": "[core]",
  ".agents/skills/deploy/SKILL.md": "skill",
  ".claude/settings.json": "{}",
  ".vscode/tasks.json": "{}",
  "AGENTS.md": "instructions",
  "acp-skills.policy.json": "{}",
  "skills-lock.json": "{}",
  "node_modules/.bin/build": "program",
  "node_modules/build/cli.js": "program",
  ".venv/bin/python": "program",
  ".gitlab-ci.yml": "job",
  "README.md": "read me",
  "below/text": "text",
  "modules/one/.git": "gitdir: ../../.git/modules/one",
  "modules/one/inner/text": "text",
  "modules/two/text": "text",
};

const below: Readonly<Record<string, string>> = {
  "src/AGENTS.md": "instructions",
  "src/lib/text": "text",
  "packages/one/.claude/settings.json": "{}",
  "packages/one/two/three/four/.vscode/tasks.json": "{}",
  "packages/two/text": "text",
  "data/bare/HEAD": "ref: refs/heads/main",
  "data/bare/config": "[core]",
  "data/bare/objects/text": "text",
  "data/bare/refs/text": "text",
};

/** What a run may change in a writable project: not the names that programs outside the sandbox trust. */
export function describeGuardedProject(trial: Trial): void {
  const project = (files = there): string => {
    const directory = mkdtempSync(path.join(trial.bait.facts.given, "guarded-"));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.join(directory, path.dirname(name)), { recursive: true });
      writeFileSync(path.join(directory, name), text);
    }
    // Owned by an ordinary user, not by root.
    if (process.getuid?.() === 0) {
      for (const name of ["", ...readdirSync(directory, { recursive: true, encoding: "utf8" })])
        chownSync(path.join(directory, name), 65_534, 65_534);
    }
    return directory;
  };
  const contents = (directory: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(directory, { recursive: true, encoding: "utf8" })
        .filter((name) => lstatSync(path.join(directory, name)).isFile())
        .map((name) => [name, readFileSync(path.join(directory, name), "utf8")]),
    );

  describe("a writable project", trial.together, () => {
    it("protects files that git, agents, editors and CI trust, also those that do not exist yet", () => {
      const directory = project();
      const attack = python`
        import os

        def is_refused(act):
            try:
                act()
            except OSError:
                return True
            return False

        def write(path):
            with open(path, "w") as file:
                file.write("planted")

        def main(args):
            done = []
            def attempt(what, act):
                if not is_refused(act):
                    done.append(what)
            for name in args["names"]:
                place = "/project/" + name
                os.makedirs("/project/below/d", exist_ok=True)
                write("/project/below/f")
                for spelling in (place, "/project/below/../" + name, "/project/" + name.upper()):
                    attempt("file " + spelling, lambda: write(spelling))
                    attempt("directory " + spelling, lambda: os.mkdir(spelling))
                    attempt("link " + spelling, lambda: os.symlink("below", spelling))
                    attempt("hard link " + spelling, lambda: os.link("/project/below/f", spelling))
                    attempt("directory by renaming " + spelling, lambda: os.rename("/project/below/d", spelling))
                    attempt("file by renaming " + spelling, lambda: os.rename("/project/below/f", spelling))
                attempt("moving away " + place, lambda: os.rename(place, "/project/below/moved"))
            for place in args["there"]:
                attempt("writing " + place, lambda: write("/project/" + place))
                attempt("removing " + place, lambda: os.remove("/project/" + place))
                attempt("replacing " + place, lambda: os.replace("/project/below/f", "/project/" + place))
                attempt("another name of " + place, lambda: os.link("/project/" + place, "/project/below/name"))
            for place in (".git/hooks/pre-commit", ".agents/skills/new", ".vscode/settings.json", "node_modules/.bin/new"):
                attempt("making " + place, lambda: write("/project/" + place))
            attempt("moving the directory above", lambda: os.rename("/project/modules/one", "/project/modules/two/one"))
            attempt("reading", lambda: open("/project/.git/config").read())
            os.remove("/project/below/f")
            os.rmdir("/project/below/d")
            return done
      `;
      const free = ["README.md", "below/text", "modules/one/inner/text", "modules/two/text"];
      const kept = Object.keys(there).filter((name) => !free.includes(name));
      const args = { names: [...guardedEverywhere, ...guardedAtTop], there: kept };
      return trial.run(codeRun(attack, { args, project: { directory, writable: true } }), ({ end }) => {
        expect(end).toMatchObject({ type: "returned", value: ["reading"] });
        expect(contents(directory)).toEqual(there);
        expect(readdirSync(directory).sort()).toEqual(
          [...new Set(Object.keys(there).map((name) => name.split("/")[0] ?? ""))].sort(),
        );
      });
    });

    it("protects the mounted directories and their parents", () => {
      const directory = project();
      const deep = "below/one/two/three/four/skills";
      mkdirSync(path.join(directory, deep), { recursive: true });
      writeFileSync(path.join(directory, deep, "SKILL.md"), "skill");
      symlinkSync("one", path.join(directory, "below/link"));
      if (process.getuid?.() === 0) {
        for (const name of readdirSync(path.join(directory, "below"), { recursive: true, encoding: "utf8" }))
          lchownSync(path.join(directory, "below", name), 65_534, 65_534);
      }
      const change = python`
        import os

        def main(args):
            done = []
            def attempt(what, act):
                try:
                    act()
                    done.append(what)
                except OSError:
                    pass
            deep = "/project/" + args["deep"]
            write = lambda place: open(place, "w").write("changed")
            attempt("write", lambda: write(deep + "/SKILL.md"))
            attempt("make", lambda: write(deep + "/new"))
            attempt("move", lambda: os.rename("/project/below/one", "/project/below/other"))
            attempt("move deep", lambda: os.rename(deep, deep + "2"))
            attempt("replace a link", lambda: os.remove("/project/below/link"))
            attempt("by the link", lambda: write("/project/below/link/two/three/four/skills/new"))
            attempt("beside", lambda: write("/project/below/text"))
            attempt("elsewhere", lambda: write("/project/modules/two/new"))
            return done
      `;
      const readOnly = [deep, "below/link/two"];
      const run = codeRun(change, { args: { deep }, project: { directory, writable: true, readOnly } });
      return trial.run(run, ({ end }) => {
        expect(end).toMatchObject({ type: "returned", value: ["beside", "elsewhere"] });
        expect(readFileSync(path.join(directory, deep, "SKILL.md"), "utf8")).toBe("skill");
      });
    });

    it("allows changing everything else: files and directories, also next to a submodule", () => {
      const directory = project();
      const change = python`
        import os

        def write(path):
            with open(path, "w") as file:
                file.write("changed")

        def main():
            for place in ("README.md", "below/text", "below/new", "modules/one/inner/new", "modules/two/new"):
                write("/project/" + place)
            os.makedirs("/project/below/deep/deeper")
            write("/project/below/deep/deeper/new")
            os.rename("/project/below/text", "/project/modules/two/text")
            os.remove("/project/below/new")
      `;
      return trial.run(codeRun(change, { project: { directory, writable: true } }), ({ end }) => {
        expect(end).toMatchObject({ type: "returned" });
        const moved = "below/text";
        expect(contents(directory)).toEqual({
          ...Object.fromEntries(Object.entries(there).filter(([name]) => name !== moved)),
          "README.md": "changed",
          "below/deep/deeper/new": "changed",
          "modules/one/inner/new": "changed",
          "modules/two/new": "changed",
          "modules/two/text": "changed",
        });
        expect(statSync(path.join(directory, ".git")).isDirectory()).toBe(true);
      });
    });

    it("protects such files below the top, and bare repositories", () => {
      const directory = project(below);
      const change = python`
        import os

        def main(args):
            done = []
            def attempt(what, act):
                try:
                    act()
                    done.append(what)
                except OSError:
                    pass
            def write(place):
                with open("/project/" + place, "w") as file:
                    file.write("changed")
            for place in args["there"]:
                attempt("write " + place, lambda: write(place))
                attempt("beside " + place, lambda: write(os.path.dirname(place) + "/new"))
                attempt("remove " + place, lambda: os.remove("/project/" + place))
                attempt("move " + place, lambda: os.rename("/project/" + os.path.dirname(place), "/project/packages/two/new"))
            write("src/lib/new")
            write("packages/two/new")
            return done
      `;
      const args = { there: Object.keys(below).filter((name) => !name.endsWith("/text") || name.startsWith("data")) };
      return trial.run(codeRun(change, { args, project: { directory, writable: true } }), ({ end, host }) => {
        expect(end).toMatchObject({ type: "returned", value: [] });
        expect(contents(directory)).toEqual({ ...below, "src/lib/new": "changed", "packages/two/new": "changed" });
        expect(host.stderr).toBe("");
      });
    });

    const plant = python`
      import os, time

      def main(args):
          def write(place, text="planted"):
              os.makedirs(os.path.dirname(place), exist_ok=True)
              with open(place, "w") as file:
                  file.write(text)
          os.chdir("/project/below")
          for top in ("nested/.git", "bare", "upper/.GIT", "closed/.git", "deep/.git"):
              write(top + "/HEAD", "ref: refs/heads/main")
              write(top + "/config", "[core]")
              os.makedirs(top + "/objects")
              os.makedirs(top + "/refs")
          write("worktree/.git", "gitdir: ../bare")
          write("shared/HEAD")
          write("shared/commondir", "../bare")
          os.mkdir("linked")
          os.symlink("../bare", "linked/.git")
          for name in args["names"]:
              write("names/" + name)
          write("names/.claude/settings.json")
          write("names/README.md")
          old = os.umask(0)
          os.mkdir("hidden", 0o300)
          os.rename("closed/.git", "hidden/.git")
          os.umask(old)
          for _ in range(300):
              os.mkdir("d")
              os.chdir("d")
          os.rename("/project/below/deep/.git", ".git")
          while args["waits"]:
              time.sleep(1)
    `;
    const names = [
      "AGENTS.md",
      "CLAUDE.local.md",
      "QWEN.md",
      "AGENTS.override.md",
      ".rules",
      ".cursorrules",
      ".goosehints",
    ];
    const planted = [
      ...["nested/.git", "bare/HEAD", "upper/.GIT", "worktree/.git", "shared/HEAD", "linked/.git", "hidden/.git"],
      ...[...names, ".claude"].map((name) => `names/${name}`),
      `${"d/".repeat(300)}.git`,
    ];

    it.each([false, true])(
      "takes away repositories and such names that a run made, and says so (killed: %s)",
      (waits) => {
        const directory = project();
        const run = codeRun(plant, {
          args: { names, waits },
          project: { directory, writable: true },
          limits: { timeoutMs: waits ? 4_000 : 20_000 },
        });
        return trial.run(run, ({ end, host }) => {
          expect(end).toMatchObject(waits ? { type: "limit", limit: "timeout" } : { type: "returned" });
          const left = readdirSync(path.join(directory, "below"), { recursive: true, encoding: "utf8" });
          expect(left.filter((name) => planted.includes(name))).toEqual([]);
          expect(left.filter((name) => /^(\.git|HEAD)$/i.test(path.basename(name)))).toEqual([]);
          for (const name of planted) expect(host.stderr).toContain(`acp-skills: /project/below/${name} was removed: `);
          expect(left).toContain("names/README.md");
          const kept = Object.entries(contents(directory)).filter(([name]) => name in there);
          expect(Object.fromEntries(kept)).toEqual(there);
        });
      },
    );

    it("refuses to change modes, owners and access lists", () => {
      const directory = project();
      const modes = (): number[] =>
        ["", ...Object.keys(there), "below", ".git"].map((name) => statSync(path.join(directory, name)).mode);
      const before = modes();
      const change = python`
        import os

        def main(args):
            done = []
            def attempt(what, act):
                try:
                    act()
                    done.append(what)
                except OSError:
                    pass
            for place in args["places"]:
                place = "/project/" + place
                attempt("chmod " + place, lambda: os.chmod(place, 0o777))
                attempt("chown " + place, lambda: os.chown(place, os.getuid(), os.getgid()))
                attempt("lchown " + place, lambda: os.lchown(place, os.getuid(), os.getgid()))
                attempt("setxattr " + place, lambda: os.setxattr(place, "user.x", b"x"))
                descriptor = os.open(place, os.O_RDONLY)
                attempt("fchmod " + place, lambda: os.fchmod(descriptor, 0o777))
                attempt("fchown " + place, lambda: os.fchown(descriptor, os.getuid(), os.getgid()))
                attempt("at " + place, lambda: os.chmod(".", 0o777, dir_fd=descriptor))
                os.close(descriptor)
            return done
      `;
      const args = { places: ["", ".", "below", ".git", ".git/hooks", "below/text", "AGENTS.md"] };
      return trial.run(codeRun(change, { args, project: { directory, writable: true } }), ({ end }) => {
        expect(end).toMatchObject({ type: "returned", value: [] });
        expect(modes()).toEqual(before);
      });
    });
  });
}
