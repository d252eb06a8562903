import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { isSkillsError } from "../../../../src/base/errors.ts";
import {
  chooseUser,
  layFiles,
  makePrivateDirectory,
  removeTree,
} from "../../../../src/runtime/sandbox/directory/private-directory.ts";
import { findCommand } from "../../../../src/runtime/sandbox/find.ts";
import type { MountedBlob, MountedSkill } from "../../../../src/runtime/sandbox.ts";
import { blobOf, fileOf, skillOf } from "../../../contract/sandbox/runs.ts";

// Windows lacks these modes and links, and no tier copies files there.
describe.skipIf(process.platform === "win32")("the files of a run", () => {
  const base = mkdtempSync(join(tmpdir(), "lay-files-"));
  afterAll(() => removeTree(base));
  let count = 0;

  async function lay(skills: MountedSkill[], blobs: MountedBlob[] = []) {
    const directory = makePrivateDirectory(join(base, String(++count)), undefined, ["workspace"]);
    await layFiles(directory, skills, blobs);
    return directory;
  }

  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

  test("are stored below the name of their skill, read-only", async () => {
    const { skills, path } = await lay([skillOf("a.b", { "SKILL.md": "text", "x/y/run.sh": "#!/bin/sh\n" })]);
    expect(readFileSync(join(skills, "a.b/SKILL.md"), "utf8")).toBe("text");
    expect(["", "/SKILL.md", "/x/y", "/x/y/run.sh"].map((name) => mode(join(skills, `a.b${name}`)))).toEqual([
      "555",
      "444",
      "555",
      "555",
    ]);
    expect([mode(path), mode(join(path, "workspace"))]).toEqual(["700", "700"]);
  });

  // Root writes there repeatedly, and would follow links that another process of that user creates.
  test.skipIf(process.getuid?.() !== 0)("are in directories that their user can traverse but not modify", () => {
    const { path, skills, blobs } = makePrivateDirectory(join(base, String(++count)), 1234, ["workspace"]);
    const rights = (one: string): unknown[] => [statSync(one).uid, statSync(one).gid, mode(one)];
    expect(rights(path)).toEqual([0, 1234, "710"]);
    expect([rights(skills), rights(blobs)]).toEqual([
      [0, 0, "755"],
      [0, 0, "755"],
    ]);
    expect(rights(join(path, "workspace"))).toEqual([1234, 1234, "700"]);
  });

  test("include blobs by id, with and without the prefix blob:", async () => {
    const { blobs } = await lay([], [blobOf("blob:a.b-1", "content")]);
    expect(readFileSync(join(blobs, "blob:a.b-1"), "utf8")).toBe("content");
    expect(readlinkSync(join(blobs, "a.b-1"))).toBe("blob:a.b-1");
  });

  test("are readable regardless of the umask", async () => {
    const before = process.umask(0o077);
    try {
      const { skills } = await lay([skillOf("a", { "x/f": "" })]);
      expect([mode(skills), mode(join(skills, "a/x")), mode(join(skills, "a/x/f"))]).toEqual(["755", "555", "444"]);
    } finally {
      process.umask(before);
    }
  });

  test("are never written outside their directory, whatever their names", async () => {
    const segment = fc.oneof(fc.constantFrom("..", ".", "", "a", "\0", "blob:x"), fc.string());
    const name = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join("/"));
    await fc.assert(
      fc.asyncProperty(name, name, name, async (skill, file, blob) => {
        const number = count + 1;
        const skills = [{ name: skill, files: [fileOf(file, "planted")] }];
        await lay(skills, [blobOf(`blob:${blob}`, "planted")]).catch(() => undefined);
        expect(readdirSync(join(base, String(number))).sort()).toEqual(["blobs", "skills", "workspace"]);
        expect(readdirSync(base)).not.toContain("planted");
      }),
      { numRuns: 200 },
    );
    expect(readdirSync(base)).toHaveLength(count);
  });

  const refused: [string, MountedSkill[], MountedBlob[]][] = [
    ["a skill with a path for a name", [skillOf("a/b", {})], []],
    ["a file above its skill", [skillOf("a", { "../b": "" })], []],
    ["a file at the root", [skillOf("a", { "/etc/passwd": "" })], []],
    ["a blob id that is a path", [], [blobOf("blob:../x", "")]],
    ["a blob id without the prefix blob:", [], [blobOf("x", "")]],
    ["a file that is shorter than its stated size", [{ name: "a", files: [{ ...fileOf("f", "x"), size: 2 }] }], []],
    ["a file that is longer than its stated size", [{ name: "a", files: [{ ...fileOf("f", "xy"), size: 1 }] }], []],
  ];
  test.each(refused)("are rejected if there is %s", async (_what, skills, blobs) => {
    const error: unknown = await lay(skills, blobs).catch((thrown: unknown) => thrown);
    expect(isSkillsError(error) && error.code).toBe("SANDBOX_UNAVAILABLE");
    expect((error as Error).message).not.toContain(base);
  });

  test("are deleted by remove", async () => {
    const directory = await lay([skillOf("a", { "x/y/z": "1" })]);
    await directory.remove();
    expect(lstatSync(directory.path, { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe.skipIf(process.getuid?.() !== 0)("the user of a run, for root", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "sandbox-user-"));
  });
  afterEach(() => removeTree(directory));

  const own = (uid: number, mode: number): void => {
    chownSync(directory, uid, uid);
    chmodSync(directory, mode);
  };
  const user = (writable: boolean) => chooseUser({ directory, writable });
  const nobody = { id: expect.toSatisfy((id: number) => id > 1234) as number, isLent: false };

  test("is a new user each time if everyone may read the project", () => {
    expect(chooseUser(undefined)).toEqual(nobody);
    expect(chooseUser(undefined)).not.toEqual(chooseUser(undefined));
    own(0, 0o755);
    expect(user(false)).toEqual(nobody);
  });

  test("is the owner of a project that is writable or private", () => {
    own(1234, 0o755);
    expect([user(false), user(true)]).toEqual([nobody, { id: 1234, isLent: false }]);
    own(1234, 0o700);
    expect(user(false)).toEqual({ id: 1234, isLent: false });
  });

  test("is a new user with an ID-mapped mount if the owner is root", () => {
    own(0, 0o755);
    expect(user(true)).toEqual({ ...nobody, isLent: true });
    own(0, 0o700);
    expect(user(false)).toEqual({ ...nobody, isLent: true });
  });

  test("is refused if the directory does not exist", () => {
    const gone = join(directory, "gone");
    for (const writable of [false, true])
      expect(chooseUser({ directory: gone, writable })).toEqual({
        refusal: `The project directory ${gone} does not exist.`,
      });
  });
});

const python = findCommand("python3", ["/usr/bin"]);

describe.skipIf(process.platform === "win32")("removeTree", () => {
  const base = mkdtempSync(join(tmpdir(), "remove-tree-"));
  afterAll(() => removeTree(base));
  let tree = "";
  let count = 0;
  beforeEach(() => {
    tree = join(base, String(++count));
    mkdirSync(tree);
  });

  test("removes a directory with its contents", async () => {
    mkdirSync(join(tree, "a/b/c"), { recursive: true });
    for (const path of ["f", "a/f", "a/b/c/f"]) writeFileSync(join(tree, path), "x");
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });

  test("does not follow symbolic links", async () => {
    const kept = join(base, "kept");
    mkdirSync(kept, { recursive: true });
    writeFileSync(join(kept, "file"), "still here");
    symlinkSync(kept, join(tree, "directory"));
    symlinkSync(join(kept, "file"), join(tree, "file"));
    symlinkSync("/absent", join(tree, "dangling"));
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
    expect(readFileSync(join(kept, "file"), "utf8")).toBe("still here");
  });

  test("removes directories without permissions", async () => {
    mkdirSync(join(tree, "a/b"), { recursive: true });
    writeFileSync(join(tree, "a/b/f"), "x");
    chmodSync(join(tree, "a/b"), 0);
    chmodSync(join(tree, "a"), 0);
    chmodSync(tree, 0);
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });

  test.skipIf(python === undefined)(
    "removes directories deeper than PATH_MAX and names that are not UTF-8",
    async () => {
      const code = `
import os, sys
os.chdir(sys.argv[1])
open(b"\\xff\\xfe", "w").close()
os.mkdir(b"\\xff")
for n in range(3000):
    os.mkdir("deep")
    os.chdir("deep")
open("bottom", "w").close()
`;
      execFileSync(python ?? "", ["-c", code, tree]);
      await removeTree(tree);
      expect(existsSync(tree)).toBe(false);
    },
  );

  test("ignores a missing directory", async () => {
    await removeTree(join(tree, "absent"));
    expect(existsSync(tree)).toBe(true);
  });
});
