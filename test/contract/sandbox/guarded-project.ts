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

/** What a run may change in a writable project: not the names that programs outside the sandbox trust. */
export function describeGuardedProject(trial: Trial): void {
  const project = (): string => {
    const directory = mkdtempSync(path.join(trial.bait.facts.given, "guarded-"));
    for (const [name, text] of Object.entries(there)) {
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

    it("protects the kept directories and their parents", () => {
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
      const kept = [deep, "below/link/two"];
      const run = codeRun(change, { args: { deep }, project: { directory, writable: true, kept } });
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
  });
}
