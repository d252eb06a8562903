import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { projectFiles, projectPathFault } from "../../../src/runtime/tools/project-files.ts";
import { gather, streamOf } from "../blobs/gather.ts";
import { directoryIdentityOf } from "../../../src/base/paths/identity.ts";
import { startSwapping } from "../../swapping.ts";
import { type OpenTools, openTools, refusal } from "./open-tools.ts";

let directory = "";
let project = "";
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-project-")));
  project = path.join(directory, "project");
  mkdirSync(path.join(project, "data"), { recursive: true });
  mkdirSync(path.join(directory, "outside"));
  writeFileSync(at("data/rows.csv"), "rows");
  writeFileSync(path.join(directory, "outside", "rows.csv"), "secret");
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const at = (file: string): string => path.join(project, file);
const kind = "text/plain";
const signal = new AbortController().signal;

async function open(options: { dataDirectory?: string } = {}): Promise<OpenTools["call"]> {
  const { call } = await openTools({}, options);
  return (name, args, context) => call(name, args, { project, ...context });
}
const save = async (call: OpenTools["call"], args: object, content = "new"): Promise<unknown> => {
  const { blob_id } = (await call("create_blob", { content, kind })) as { blob_id: string };
  return call("read_blob", { blob_id, ...args });
};

describe("create_blob from a file of the project", () => {
  test("stores its bytes, also through a link inside the project", async () => {
    const call = await open();
    symlinkSync("data/rows.csv", at("link.csv"));
    for (const file of ["data/rows.csv", "link.csv"]) {
      const { blob_id } = (await call("create_blob", { path: file, kind })) as { blob_id: string };
      expect(await call("read_blob", { blob_id })).toMatchObject({ content: "rows", kind });
    }
  });

  test.each<[string, string, () => void]>([
    ["a link that leads out", "out.csv", () => symlinkSync("../outside/rows.csv", at("out.csv"))],
    ["a directory that leads out", "out/rows.csv", () => symlinkSync("../outside", at("out"))],
    ["an absolute link", "out.csv", () => symlinkSync("/etc/hostname", at("out.csv"))],
    ["the directory above", "../outside/rows.csv", () => undefined],
    ["an absolute path", "/etc/hostname", () => undefined],
    ["a dot-file", ".env", () => writeFileSync(at(".env"), "KEY=1")],
    ["a file in a dot-directory", ".git/config", () => undefined],
    [
      "a link to a dot-file",
      "env",
      () => {
        writeFileSync(at(".env"), "KEY=1");
        symlinkSync(".env", at("env"));
      },
    ],
    ["a directory", "data", () => undefined],
    ["a pipe", "pipe", () => execFileSync("mkfifo", [at("pipe")])],
    ["a link to itself", "loop", () => symlinkSync("loop", at("loop"))],
    ["an empty path", "", () => undefined],
    ["a NUL", "a\0b", () => undefined],
  ])("refuses %s", async (_, file, prepare) => {
    prepare();
    const refused = await refusal((await open())("create_blob", { path: file, kind }));
    expect(refused.code).toBe("INVALID_PATH");
    expect(JSON.stringify(refused)).not.toContain(directory);
  });

  test("refuses missing files, files that are too large, and the data directory", async () => {
    const call = await open({ dataDirectory: at("kept") });
    mkdirSync(at("kept"));
    writeFileSync(at("kept/record"), "another's");
    expect(await refusal(call("create_blob", { path: "absent.csv", kind }))).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await refusal(call("create_blob", { path: "kept/record", kind }))).toMatchObject({ code: "INVALID_PATH" });
    writeFileSync(at("large"), Buffer.alloc(10 * 1024 * 1024 + 1));
    expect(await refusal(call("create_blob", { path: "large", kind }))).toMatchObject({ code: "BLOB_TOO_LARGE" });
  });

  test("accepts either content or path, and no ;base64 with path", async () => {
    const call = await open();
    for (const args of [
      { kind },
      { kind, content: "x", path: "data/rows.csv" },
      { kind: `${kind};base64`, path: "data/rows.csv" },
    ]) {
      expect(await refusal(call("create_blob", args))).toMatchObject({ code: "VALIDATION_ERROR" });
    }
  });

  test("requires a session with a project", async () => {
    const { call } = await openTools({});
    expect(await refusal(call("create_blob", { path: "data/rows.csv", kind }))).toMatchObject({
      code: "PERMISSION_DENIED",
    });
    expect(await refusal(save(call, { save_as: "x" }))).toMatchObject({ code: "PERMISSION_DENIED" });
  });
});

describe("read_blob to a file of the project", () => {
  test("writes the whole blob to a new file and returns its path", async () => {
    const content = "x".repeat(2_000_000);
    expect(await save(await open(), { save_as: "data/new.txt", max_bytes: 1 }, content)).toEqual({
      saved_as: "data/new.txt",
      size_bytes: 2_000_000,
    });
    expect(readFileSync(at("data/new.txt"), "utf8")).toBe(content);
    expect(readdirSync(at("data")).sort()).toEqual(["new.txt", "rows.csv"]);
  });

  test("replaces a file only with overwrite, and keeps its mode", async () => {
    const call = await open();
    chmodSync(at("data/rows.csv"), 0o755);
    linkSync(at("data/rows.csv"), path.join(directory, "outside", "same"));
    expect(await refusal(save(call, { save_as: "data/rows.csv" }))).toMatchObject({ code: "VALIDATION_ERROR" });
    expect(readFileSync(at("data/rows.csv"), "utf8")).toBe("rows");
    await save(call, { save_as: "data/rows.csv", overwrite: true });
    expect(readFileSync(at("data/rows.csv"), "utf8")).toBe("new");
    expect(statSync(at("data/rows.csv")).mode & 0o777).toBe(0o755);
    // A hard link to the old file keeps its content.
    expect(readFileSync(path.join(directory, "outside", "same"), "utf8")).toBe("rows");
    expect(await refusal(save(call, { overwrite: true }))).toMatchObject({ code: "VALIDATION_ERROR" });
  });

  test.each<[string, string, () => void]>([
    ["a link that leads out", "out.csv", () => symlinkSync("../outside/rows.csv", at("out.csv"))],
    ["a directory that leads out", "out/new.csv", () => symlinkSync("../outside", at("out"))],
    ["a git hook", ".git/hooks/pre-commit", () => mkdirSync(at(".git/hooks"), { recursive: true })],
    [
      "a link to the directory of git hooks",
      "hooks/pre-commit",
      () => {
        mkdirSync(at(".git/hooks"), { recursive: true });
        symlinkSync(".git/hooks", at("hooks"));
      },
    ],
    [
      "a repository of git under another name",
      "data/bare/config",
      () => {
        for (const name of ["HEAD", "objects", "refs"]) mkdirSync(at(`data/bare/${name}`), { recursive: true });
      },
    ],
    ["a skill", ".agents/skills/x/SKILL.md", () => mkdirSync(at(".agents/skills/x"), { recursive: true })],
    ["agent settings", ".claude/settings.json", () => mkdirSync(at(".claude"))],
    ["editor settings", ".vscode/tasks.json", () => mkdirSync(at(".vscode"))],
    ["an editor workspace", "a.code-workspace", () => undefined],
    ["a CI pipeline", "data/Jenkinsfile", () => undefined],
    ["a name that some file systems treat as .git", "\u200c.git", () => undefined],
    ["a directory", "data", () => undefined],
  ])("refuses %s, with and without overwrite", async (_, file, prepare) => {
    prepare();
    const before = readdirSync(directory, { recursive: true }).sort();
    const call = await open();
    expect(await refusal(save(call, { save_as: file, overwrite: true }))).toMatchObject({ code: "INVALID_PATH" });
    expect(["INVALID_PATH", "VALIDATION_ERROR"]).toContain((await refusal(save(call, { save_as: file }))).code);
    expect(readdirSync(directory, { recursive: true }).sort()).toEqual(before);
    expect(readFileSync(path.join(directory, "outside", "rows.csv"), "utf8")).toBe("secret");
  });

  test.runIf(process.platform === "linux")(
    "a name that is too long is said, and one that is not is written",
    async () => {
      const call = await open();
      for (const file of ["a".repeat(256), `${"a".repeat(256)}/b`]) {
        for (const args of [{ save_as: file }, { save_as: file, overwrite: true }])
          expect(await refusal(save(call, args))).toMatchObject({
            code: "INVALID_PATH",
            message: expect.stringContaining("too long") as string,
          });
        expect(await refusal(call("create_blob", { path: file, kind }))).toMatchObject({ code: "INVALID_PATH" });
      }
      await save(call, { save_as: "語".repeat(85) });
      expect(readFileSync(at("語".repeat(85)), "utf8")).toBe("new");
    },
  );

  test("creates no directory, and leaves nothing behind if the blob cannot be read", async () => {
    expect(await refusal(save(await open(), { save_as: "absent/new.txt" }))).toMatchObject({ code: "FILE_NOT_FOUND" });
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from("half"));
      throw new Error("gone");
    };
    const writing = projectFiles(project).write("new.txt", failing(), { overwrite: false, signal });
    await expect(writing).rejects.toThrow("gone");
    expect(readdirSync(project)).toEqual(["data"]);
  });

  test("does not replace a file created while it writes", async () => {
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from("new"));
      writeFileSync(at("new.txt"), "theirs");
    }
    const writing = projectFiles(project).write("new.txt", slow(), { overwrite: false, signal });
    await expect(writing).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    expect(readFileSync(at("new.txt"), "utf8")).toBe("theirs");
  });
});

test("refuses a project directory that was replaced by another one", () => {
  const identity = directoryIdentityOf(project);
  expect(() => projectFiles(project, { identity })).not.toThrow();
  renameSync(project, `${project}.before`);
  symlinkSync(path.join(directory, "outside"), project);
  const refused = expect.objectContaining({ code: "PERMISSION_DENIED" }) as Error;
  expect(() => projectFiles(project, { identity })).toThrow(refused);
});

describe.runIf(process.platform === "linux")("a directory that is constantly replaced by a link", () => {
  test("never leads outside the project when reading or writing", async () => {
    symlinkSync("../outside", at("link"));
    renameSync(at("data/rows.csv"), at("data/rows.csv"));
    const swapping = await startSwapping(at("data"), at("link"));
    const files = projectFiles(project);
    let [read, refused] = [0, 0];
    try {
      for (let count = 0; count < 2_000; count++) {
        try {
          const bytes = await gather(files.read("data/rows.csv", 100));
          expect(bytes.toString()).toBe("rows");
          await files.write("data/new.txt", streamOf("new"), { overwrite: true, signal });
          read += 1;
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/INVALID_PATH|FILE_NOT_FOUND/) as string });
          refused += 1;
        }
      }
    } finally {
      await swapping.stop();
    }
    expect(existsSync(path.join(directory, "outside", "new.txt"))).toBe(false);
    expect(readdirSync(path.join(directory, "outside"))).toEqual(["rows.csv"]);
    expect(Math.min(read, refused)).toBeGreaterThan(0);
  }, 60_000);
});

test.each(["ab:c", "name.", "name ", "a|b"])("%j is not a valid path on Windows", (name) => {
  expect(projectPathFault(name, "read", "win32")).toBe("is not a valid path on Windows");
  expect(projectPathFault(name, "read", "linux")).toBeUndefined();
});
