import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openTrust } from "../trust/open-trust.ts";
import { memoryBlobs } from "../blobs/memory-blobs.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { Catalog } from "../../../src/skills/skillset/catalog.ts";
import { createSkillHasher } from "../../../src/skills/hash.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../src/skills/files/disk-skill-files.ts";
import { Toolbox } from "../../../src/runtime/tools/toolbox.ts";
import { agentSkill, openTools, refusal } from "./open-tools.ts";

const cap = 256 * 1024;
const largest = 16 * 1024 * 1024;

async function read(content: string | Uint8Array) {
  const { call } = await openTools({ ...agentSkill("pdf"), "/skills/pdf/f": content });
  return call("read_skill_file", { name: "pdf", path: "f" });
}

test("text is returned unchanged", async () => {
  const content = "\ufeffÜ\r\n\tx\n";
  expect(await read(content)).toEqual({ content, encoding: "utf-8", size_bytes: 10, truncated: false });
});

test("Unicode tags are removed from text", async () => {
  expect(await read("hid\u{e0041}\u{e007f}den")).toMatchObject({
    content: "hidden",
    encoding: "utf-8",
    size_bytes: 14,
  });
});

test("an empty file is returned as empty text", async () => {
  expect(await read("")).toEqual({ content: "", encoding: "utf-8", size_bytes: 0, truncated: false });
});

test("binary content is returned as base64", async () => {
  const bytes = Uint8Array.of(0x89, 0x50, 0, 0xff);
  expect(await read(bytes)).toEqual({ content: "iVAA/w==", encoding: "base64", size_bytes: 4, truncated: false });
});

test.each([
  [cap - 1, false],
  [cap, false],
  [cap + 1, true],
])("a file of %i bytes is returned up to 256 KiB; truncated: %s", async (size, truncated) => {
  const answer = (await read("x".repeat(size))) as { content: string };
  expect(answer).toMatchObject({ size_bytes: size, truncated });
  expect(answer.content).toHaveLength(Math.min(size, cap));
});

test.each(["é", "文", "😀"])("truncation inside %s drops that character", async (character) => {
  for (const before of [1, 2, 3]) {
    const text = "x".repeat(cap - before) + character + "tail";
    const fits = Buffer.byteLength(character) <= before;
    const answer = (await read(text)) as { content: string };
    expect(answer).toMatchObject({ encoding: "utf-8", truncated: true });
    expect(answer.content.startsWith(`${"x".repeat(cap - before)}${fits ? character : ""}`)).toBe(true);
    expect(answer.content).not.toContain("\ufffd");
  }
});

test("a file of 16 MiB can be read, a larger one is refused", async () => {
  expect(await read(new Uint8Array(largest))).toMatchObject({ size_bytes: largest, truncated: true });
  expect(await refusal(read(new Uint8Array(largest + 1)))).toMatchObject({ code: "FILE_TOO_LARGE" });
});

test("a missing file is refused with the nearest paths", async () => {
  const { call } = await openTools({ ...agentSkill("pdf"), "/skills/pdf/references/forms.md": "x" });
  const { code, available } = await refusal(call("read_skill_file", { name: "pdf", path: "reference/forms.md" }));
  expect([code, (available as string[])[0]]).toEqual(["FILE_NOT_FOUND", "references/forms.md"]);
});

test("an invalid path is refused with the reason, before any lookup", async () => {
  const { call } = await openTools(agentSkill("pdf"));
  expect(await refusal(call("read_skill_file", { name: "pdf", path: "../secret" }))).toMatchObject({
    code: "INVALID_PATH",
    message: "The path has a segment ..; write it relative to the skill's directory.",
  });
});

test.each([".env", ".git/config", "a/.b/c", "__pycache__/x.pyc", "no-such-file"])(
  "%s is reported as missing, whether it exists or not",
  async (path) => {
    const empty = await openTools(agentSkill("pdf"));
    const absent = await refusal(empty.call("read_skill_file", { name: "pdf", path }));
    const full = await openTools({
      ...agentSkill("pdf"),
      "/skills/pdf/.env": "x",
      "/skills/pdf/.git/config": "x",
      "/skills/pdf/a/.b/c": "x",
      "/skills/pdf/__pycache__/x.pyc": "x",
    });
    expect(await refusal(full.call("read_skill_file", { name: "pdf", path }))).toEqual(absent);
    expect(absent.code).toBe("FILE_NOT_FOUND");
  },
);

describe("on disk", () => {
  let home = "";
  const write = (file: string, content = "content"): void => {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), content);
  };
  const link = (from: string, target: string): void => symlinkSync(target, join(home, from));

  async function openDisk() {
    const files = diskSkillFiles();
    const roots = [{ path: join(home, "skills"), origin: "explicit" as const }];
    const catalog = new Catalog({ roots, files, clock: systemClock, log: silentLog });
    await catalog.ready;
    const logged: string[] = [];
    const toolbox = new Toolbox({
      blobs: memoryBlobs(),
      source: { files, bytes: diskSkillBytes() },
      hasher: createSkillHasher(),
      log: (_level, message) => void logged.push(message),
      trust: openTrust().trust,
    });
    const context = { owner: "me", transport: "in-process" as const, skills: catalog };
    const call = (tool: string, args: object) => toolbox.call(tool, args, context);
    return { call, logged, read: (path: string) => call("read_skill_file", { name: "a", path }) };
  }

  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), "read-skill-file-")));
    write("skills/a/SKILL.md", "---\nname: a\ndescription: A.\n---\n");
    write("skills/a2/SKILL.md", "---\nname: a2\ndescription: A2.\n---\n");
    write("skills/a2/secret");
    write("outside");
  });
  afterEach(() => rmSync(home, { recursive: true }));

  test("links inside the skill are followed, also to directories", async () => {
    write("skills/a/docs/real.md", "real");
    link("skills/a/alias.md", "docs/real.md");
    link("skills/a/other", "docs");
    const { read } = await openDisk();
    expect(await read("alias.md")).toMatchObject({ content: "real" });
    expect(await read("other/real.md")).toMatchObject({ content: "real" });
  });

  test.each([
    ["an absolute path outside", () => join(home, "outside"), "leaving"],
    ["a relative path outside", () => "../../outside", "leaving"],
    ["a sibling with the same prefix", () => "../a2/secret", "leaving"],
    ["a directory outside", () => "../a2", "leaving/secret"],
  ])("a link to %s is refused, and not listed", async (_name, target, path) => {
    link("skills/a/leaving", target());
    const { read, call } = await openDisk();
    expect(await refusal(read(path))).toMatchObject({ code: "INVALID_PATH" });
    const described = (await call("describe_skill", { name: "a" })) as { skill: { files: { path: string }[] } };
    expect(described.skill.files.map((file) => file.path)).toEqual(["SKILL.md"]);
  });

  test("a link to a hidden file of the skill does not serve it", async () => {
    write("skills/a/.env", "SECRET=1");
    link("skills/a/shown", ".env");
    const { read, call } = await openDisk();
    expect(await refusal(read("shown"))).toMatchObject({ code: "FILE_NOT_FOUND", available: ["SKILL.md"] });
    const described = (await call("describe_skill", { name: "a" })) as { skill: { files: { path: string }[] } };
    expect(described.skill.files.map((file) => file.path)).toEqual(["SKILL.md"]);
  });

  test("circular links do not cause endless recursion", async () => {
    write("skills/a/docs/f");
    link("skills/a/docs/up", "..");
    link("skills/a/loop", "loop");
    const { read, call } = await openDisk();
    expect(await refusal(read("loop"))).toMatchObject({ code: "FILE_NOT_FOUND" });
    const described = (await call("describe_skill", { name: "a" })) as { skill: { files: { path: string }[] } };
    expect(described.skill.files.map((file) => file.path)).toEqual(["SKILL.md", "docs/f"]);
  });

  test("a FIFO is refused without blocking", async () => {
    execFileSync("mkfifo", [join(home, "skills/a/pipe")]);
    const { read, call } = await openDisk();
    expect(await refusal(read("pipe"))).toMatchObject({ code: "FILE_NOT_FOUND" });
    const described = (await call("describe_skill", { name: "a" })) as { skill: { files: { path: string }[] } };
    expect(described.skill.files.map((file) => file.path)).toEqual(["SKILL.md"]);
  });

  test("directories are refused, percent signs are literal, and unusual names work", async () => {
    write("skills/a/docs/a b%2f.md", "odd");
    const { read } = await openDisk();
    expect(await refusal(read("docs"))).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await refusal(read("docs%2fa"))).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await read("docs/a b%2f.md")).toMatchObject({ content: "odd" });
  });

  test("a directory replaced by a link serves nothing of the target", async () => {
    const { read, call } = await openDisk();
    renameSync(join(home, "skills/a"), join(home, "moved"));
    link("skills/a", "a2");
    expect(await refusal(read("secret"))).toMatchObject({ code: "INVALID_PATH" });
    expect(await refusal(call("describe_skill", { name: "a" }))).toMatchObject({ code: "SKILL_NOT_READY" });
  });

  test("every file that describe_skill lists can be read, byte for byte", async () => {
    write("skills/a/docs/é ü.md", "text");
    write("skills/a/docs/deep/er/f.bin", "\0");
    write("skills/a/~tilde");
    write(`skills/a/${"long/".repeat(102)}12`);
    write(`skills/a/${"long/".repeat(102)}123`);
    link("skills/a/docs/link", "deep/er/f.bin");
    const { read, call } = await openDisk();
    const described = (await call("describe_skill", { name: "a" })) as {
      skill: { files: { path: string; size_bytes: number; sha256: string }[] };
    };
    const { files } = described.skill;
    expect(files.map((file) => file.path)).toEqual([
      "SKILL.md",
      "docs/deep/er/f.bin",
      "docs/link",
      "docs/é ü.md",
      `${"long/".repeat(102)}12`,
    ]);
    for (const { path, size_bytes, sha256 } of files) {
      const { content, encoding } = (await read(path)) as { content: string; encoding: string };
      const bytes = Buffer.from(content, encoding === "utf-8" ? "utf8" : "base64");
      expect([bytes.length, createHash("sha256").update(bytes).digest("hex")]).toEqual([size_bytes, sha256]);
    }
  });

  test("no error contains a path of this machine", async () => {
    link("skills/a/leaving", "../../outside");
    const { read } = await openDisk();
    for (const path of ["leaving", "missing", "/etc/passwd", ".env", "x".repeat(5000)]) {
      expect(JSON.stringify(await refusal(read(path)))).not.toContain(home);
    }
  });
});
