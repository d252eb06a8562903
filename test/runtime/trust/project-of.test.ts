import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { projectOf } from "../../../src/runtime/trust/project-of.ts";

const isPosix = process.platform !== "win32";
let root = "";
beforeEach(() => {
  root = realpathSync.native(mkdtempSync(path.join(tmpdir(), "acp-skills-projects-")));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const at = (...names: readonly string[]): string => path.join(root, ...names);
const make = (...names: readonly string[]): string => {
  mkdirSync(at(...names), { recursive: true });
  if (names.at(-1)?.endsWith(".git") === true) lay(at(...names));
  return at(...names);
};
/** What git demands of a repository. */
const lay = (git: string): void => {
  for (const name of ["objects", "refs"]) mkdirSync(path.join(git, name), { recursive: true });
  writeFileSync(path.join(git, "HEAD"), "ref: refs/heads/main\n");
};
const write = (file: string, text: string): void => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const of = (directory: string, worktrees: "shared" | "separate" = "shared"): string =>
  projectOf(directory, worktrees, at("home"));

/** A repository as git lays it out, with one linked worktree. */
function makeWorktree({
  repository = "repository",
  worktree = "worktree",
  common = path.join(repository, ".git"),
} = {}): void {
  const own = at(common, "worktrees", path.basename(worktree));
  make(repository, ".git");
  make(common);
  write(path.join(own, "HEAD"), `${"0a".repeat(20)}\n`);
  write(at(worktree, ".git"), `gitdir: ${own}\n`);
  write(path.join(own, "commondir"), "../..\n");
  write(path.join(own, "gitdir"), `${at(worktree, ".git")}\n`);
}

describe("projectOf", () => {
  test("is the directory without git, its links resolved", () => {
    make("plain", "inner");
    expect(of(at("plain"))).toBe(at("plain"));
    expect(of(at("plain", "inner"))).toBe(at("plain", "inner"));
    expect(of(at("plain", "..", "plain", "inner", "."))).toBe(at("plain", "inner"));
    symlinkSync(at("plain"), at("link"), "junction");
    expect(of(at("link", "inner"))).toBe(at("plain", "inner"));
  });

  test("is the path of a directory that does not exist", () => {
    expect(of(at("missing", "..", "gone"))).toBe(at("gone"));
  });

  test("is the top directory of a repository, also for its subdirectories", () => {
    make("repository", ".git");
    make("repository", "a", "b");
    for (const directory of [at("repository"), at("repository", "a", "b"), at("repository", ".git")])
      for (const worktrees of ["shared", "separate"] as const) expect(of(directory, worktrees)).toBe(at("repository"));
  });

  test("is the nearest repository of nested ones", () => {
    make("outer", ".git");
    make("outer", "inner", ".git");
    expect(of(make("outer", "inner", "a"))).toBe(at("outer", "inner"));
    expect(of(make("outer", "other"))).toBe(at("outer"));
  });

  test("is shared by the worktrees of a repository, unless they are separate", () => {
    makeWorktree();
    make("worktree", "a");
    expect(of(at("worktree"))).toBe(at("repository"));
    expect(of(at("worktree", "a"))).toBe(at("repository"));
    expect(of(at("worktree", "a"), "separate")).toBe(at("worktree"));
  });

  test("understands relative links between a worktree and its repository", () => {
    makeWorktree();
    write(at("worktree", ".git"), "gitdir: ../repository/.git/worktrees/worktree");
    write(at("repository", ".git", "worktrees", "worktree", "gitdir"), "../../../../worktree/.git\r\n");
    expect(of(at("worktree"))).toBe(at("repository"));
  });

  test("is a bare repository for its worktrees", () => {
    makeWorktree({ common: "bare.git" });
    expect(of(at("worktree"))).toBe(at("bare.git"));
    expect(of(at("bare.git"))).toBe(at("bare.git"));
  });

  test("is a submodule itself", () => {
    make("repository", ".git", "modules", "sub");
    lay(at("repository", ".git", "modules", "sub"));
    write(at("repository", "sub", ".git"), "gitdir: ../.git/modules/sub\n");
    expect(of(at("repository", "sub"))).toBe(at("repository", "sub"));
  });

  test("is what real git worktrees share", { skip: !hasGit() }, () => {
    const git = (cwd: string, ...args: readonly string[]): void =>
      void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd, stdio: "pipe" });
    make("main");
    git(at("main"), "init", "-q");
    git(at("main"), "commit", "-q", "--allow-empty", "-m", "first");
    git(at("main"), "worktree", "add", "-q", at("a b", "linked"));
    git(root, "clone", "-q", "--bare", at("main"), at("bare"));
    git(at("bare"), "worktree", "add", "-q", at("of-bare"), "-b", "other");
    git(root, "clone", "-q", at("main"), at("clone"));
    expect(of(at("a b", "linked"))).toBe(at("main"));
    expect(of(at("a b", "linked"), "separate")).toBe(at("a b", "linked"));
    expect(of(at("of-bare"))).toBe(at("bare"));
    expect(of(at("clone"))).toBe(at("clone"));
    renameSync(at("a b", "linked"), at("moved"));
    expect(of(at("moved"))).toBe(at("moved"));
  });

  describe("never lets a project pass for another one", () => {
    beforeEach(() => {
      makeWorktree();
    });
    const victim = (): string => at("repository");

    test("a copied .git file of a worktree", () => {
      write(at("thief", ".git"), readFileSync(at("worktree", ".git"), "utf8"));
      expect(of(at("thief"))).toBe(at("thief"));
    });

    test("a .git file that names the repository, not a worktree of it", () => {
      write(at("thief", ".git"), `gitdir: ${victim()}/.git\n`);
      expect(of(at("thief"))).toBe(at("thief"));
    });

    test("a worktree made up in the project, whose common directory is the repository's", () => {
      write(at("thief", ".git"), "gitdir: made-up/worktrees/thief\n");
      write(at("thief", "made-up", "worktrees", "thief", "gitdir"), `${at("thief", ".git")}\n`);
      write(at("thief", "made-up", "worktrees", "thief", "commondir"), `${victim()}/.git\n`);
      expect(of(at("thief"))).toBe(at("thief"));
    });

    test.runIf(isPosix)("a made-up worktree behind links into the repository", () => {
      write(at("thief", ".git"), "gitdir: made-up/worktrees/worktree\n");
      symlinkSync(`${victim()}/.git`, at("thief", "made-up"));
      expect(of(at("thief"))).toBe(at("thief"));
      rmSync(at("thief", "made-up"));
      make("thief", "made-up", "worktrees", "worktree");
      for (const name of ["gitdir", "commondir"])
        symlinkSync(
          `${victim()}/.git/worktrees/worktree/${name}`,
          at("thief", "made-up", "worktrees", "worktree", name),
        );
      expect(of(at("thief"))).toBe(at("thief"));
    });

    test.runIf(isPosix)("a .git link to the .git file of a worktree, or to the repository", () => {
      make("thief");
      symlinkSync(at("worktree", ".git"), at("thief", ".git"));
      expect(of(at("thief"))).toBe(at("thief"));
      rmSync(at("thief", ".git"));
      symlinkSync(at("repository", ".git"), at("thief", ".git"));
      expect(of(at("thief"))).toBe(at("thief"));
    });

    test("a worktree that the repository does not name any more", () => {
      rmSync(at("repository", ".git", "worktrees"), { recursive: true });
      expect(of(at("worktree"))).toBe(at("worktree"));
    });

    test("a copy of the worktree beside a copy of the repository", () => {
      cpSync(victim(), at("thief", "repository"), { recursive: true });
      write(at("thief", "worktree", ".git"), "gitdir: ../repository/.git/worktrees/worktree\n");
      expect(of(at("thief", "worktree"))).toBe(at("thief", "worktree"));
    });

    test("any text in the files of a made-up worktree", () => {
      const place = fc.constantFrom(
        victim(),
        `${victim()}/.git`,
        `${victim()}/.git/worktrees/worktree`,
        "../repository/.git/worktrees/worktree",
        "own/worktrees/thief",
        "../../..",
        ".",
        at("worktree", ".git"),
        at("thief", ".git"),
        "x".repeat(10_000),
        "\0",
        "//server/share/worktrees/a",
      );
      const end = fc.constantFrom("", "\n", "\r\n", "\n\n", " ", "\0");
      const text = fc.oneof(
        fc.tuple(place, end).map((parts) => parts.join("")),
        fc.string({ unit: "binary" }),
      );
      fc.assert(
        fc.property(text, text, text, (git, common, back) => {
          write(at("thief", ".git"), `gitdir: ${git}`);
          write(at("thief", "own", "worktrees", "thief", "commondir"), common);
          write(at("thief", "own", "worktrees", "thief", "gitdir"), back);
          const found = of(at("thief"));
          expect([at("thief"), at("thief", "own")]).toContain(found);
        }),
      );
    });
  });

  test.each([
    ["is empty", []],
    ["has no HEAD", ["HEAD"]],
    ["has no objects", ["objects"]],
    ["has no refs", ["refs"]],
  ])("is not moved by a .git that %s", (_name, missing) => {
    make("repository", ".git");
    const git = make("repository", "inner", ".git");
    for (const name of missing.length === 0 ? ["HEAD", "objects", "refs"] : missing)
      rmSync(path.join(git, name), { recursive: true });
    expect(of(make("repository", "inner", "a"))).toBe(at("repository"));
    writeFileSync(path.join(git, "HEAD"), "");
    expect(of(at("repository", "inner"))).toBe(at("repository"));
    lay(git);
    expect(of(at("repository", "inner", "a"))).toBe(at("repository", "inner"));
  });

  test.runIf(isPosix)("is that of a repository whose HEAD is a link, as git made it once", () => {
    const git = make("repository", ".git");
    rmSync(path.join(git, "HEAD"));
    symlinkSync("refs/heads/main", path.join(git, "HEAD"));
    expect(of(make("repository", "a"))).toBe(at("repository"));
  });

  describe("is the directory itself for a .git that is no repository", () => {
    test.each([
      ["an empty file", ""],
      ["a file without a path", "gitdir: \n"],
      ["a file that leads to itself", "gitdir: .git\n"],
      ["a missing directory", "gitdir: ../missing/.git/worktrees/a\n"],
      ["another key", "gitfile: ../repository/.git/worktrees/worktree\n"],
      ["line ends only", `gitdir: ${"\n".repeat(8_000)}`],
    ])("%s", (_name, text) => {
      makeWorktree();
      write(at("project", ".git"), text);
      expect(of(make("project", "a"))).toBe(at("project", "a"));
    });

    test("a file of 1 GiB, which is not read", () => {
      makeWorktree();
      truncateSync(at("worktree", ".git"), 1024 ** 3);
      expect(of(at("worktree"))).toBe(at("worktree"));
    });

    test("a file that is longer than any path", () => {
      makeWorktree();
      appendFileSync(at("worktree", ".git"), "\n".repeat(8_192));
      expect(of(at("worktree"))).toBe(at("worktree"));
    });

    test.runIf(isPosix)("a FIFO, in any place, without blocking", () => {
      makeWorktree();
      for (const file of [at("repository", ".git", "worktrees", "worktree", "commondir"), at("worktree", ".git")]) {
        rmSync(file);
        execFileSync("mkfifo", [file]);
        expect(of(at("worktree"))).toBe(at("worktree"));
      }
    });

    test.runIf(isPosix)("links that lead to each other", () => {
      make("project");
      symlinkSync(at("project", "b"), at("project", ".git"));
      symlinkSync(at("project", ".git"), at("project", "b"));
      expect(of(at("project"))).toBe(at("project"));
      rmSync(at("project", ".git"));
      write(at("project", ".git"), "gitdir: b/worktrees/a\n");
      expect(of(at("project"))).toBe(at("project"));
    });
  });

  test("is not a repository in the home directory or above it, except for that directory", () => {
    make("home", ".git");
    make(".git");
    expect(of(make("home", "downloads", "a"))).toBe(at("home", "downloads", "a"));
    expect(of(at("home"))).toBe(at("home"));
    expect(of(make("other"))).toBe(at("other"));
    make("home", "repository", ".git");
    expect(of(make("home", "repository", "a"))).toBe(at("home", "repository"));
  });

  test("contains the directory or is one that names it, for any tree", () => {
    const segment = fc.constantFrom("a", "b", "c d", "ü", "...", "worktrees");
    const steps = fc.array(segment, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(steps, fc.nat(5), (segments, depth) => {
        const base = mkdtempSync(at("tree-"));
        const directory = path.join(base, ...segments);
        const top = path.join(base, ...segments.slice(0, depth));
        mkdirSync(directory, { recursive: true });
        lay(path.join(top, ".git"));
        expect(of(directory)).toBe(top);
        expect(of(top)).toBe(top);
        expect(of(of(directory))).toBe(of(directory));
      }),
      { numRuns: 50 },
    );
  });

  const isRoot = process.getuid?.() === 0;
  test.runIf(isRoot)("is the directory itself below the repository of another user", () => {
    make("shared", ".git");
    execFileSync("chown", ["-R", "12345", at("shared", ".git")]);
    expect(of(make("shared", "mine"))).toBe(at("shared", "mine"));
    expect(of(at("shared"))).toBe(at("shared"));
  });

  test.runIf(isRoot)("is the worktree itself where its repository belongs to another user", () => {
    makeWorktree();
    execFileSync("chown", ["12345", at("repository", ".git")]);
    expect(of(at("worktree"))).toBe(at("worktree"));
  });
});

function hasGit(): boolean {
  return (process.env["PATH"] ?? "").split(path.delimiter).some((each) => existsSync(path.join(each, "git")));
}
