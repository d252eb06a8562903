import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readInstructions } from "../../../src/acp/service/prompt/read-instructions.ts";
import {
  holdDirectory,
  listHeld,
  openAtRealPath,
  openRegularFile,
  openRegularFileSync,
} from "../../../src/base/paths/at-real-path.ts";
import { isSkillsError } from "../../../src/base/errors.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../src/skills/files/disk-skill-files.ts";
import { createSkillHasher } from "../../../src/skills/hash.ts";
import { toMountedSkill } from "../../../src/runtime/runs/execute/prepare-run.ts";
import { offer } from "../../acp/memory-skillset.ts";
import { startSwapping } from "../../swapping.ts";
import { replaceFile } from "../../../src/base/paths/replace-file.ts";

const stolen = "stolen".padEnd(7919, "!");
let root = "";
let skillDirectory = "";
let victimDirectory = "";

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-real-path-")));
  skillDirectory = join(root, "skill");
  victimDirectory = join(root, "victim");
  for (const [directory, text] of [
    [skillDirectory, "public"],
    [victimDirectory, stolen],
  ] as const) {
    mkdirSync(join(directory, "inner"), { recursive: true });
    writeFileSync(join(directory, "SKILL.md"), `---\nname: skill\ndescription: d\n---\n${text}\n`);
    writeFileSync(join(directory, "inner", "file"), text);
    writeFileSync(join(directory, "inner", text.slice(0, 6)), "");
  }
  symlinkSync(victimDirectory, join(root, "link"));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const never = new AbortController().signal;
const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
const skill = () => offer("skill", { directory: skillDirectory, file: join(skillDirectory, "SKILL.md") }).skill;
const file = () => join(skillDirectory, "inner", "file");

async function mountedText(): Promise<string> {
  const hashed = await createSkillHasher().hash(source, skillDirectory, never);
  const { files } = toMountedSkill(source, { skill: skill(), files: hashed.files });
  const pieces: string[] = [];
  for (const one of files) {
    for await (const bytes of one.read()) pieces.push(one.path, Buffer.from(bytes).toString());
  }
  return pieces.join(" ");
}

/** Everything that the host reads from a skill directory that another process may change. */
const readers: Record<string, () => unknown> = {
  "the head of a file": () => Buffer.from(source.bytes.head(file(), 100)?.bytes ?? []).toString(),
  "the digest of a file": async () => await source.bytes.sha256(file(), never),
  "the size of a file": () => ({ size: source.bytes.stamp(file())?.size }),
  "the names in a directory": () => source.files.list(join(skillDirectory, "inner")).map(({ name }) => name),
  "the head of a SKILL.md": () =>
    Buffer.from(source.files.head(join(skillDirectory, "SKILL.md"), 4096).bytes).toString(),
  "what describe_skill lists": async () => await createSkillHasher().hash(source, skillDirectory, never),
  "what a sandbox is shown": mountedText,
  "the instructions of a prompt": async () => await readInstructions(skill()),
};
/** What the results would contain if a read had followed the symlink. */
const signs = ["stolen", hash("sha256", stolen), '"size":7919', '"size_bytes":7919'];

describe.skipIf(process.platform !== "linux")("while a skill directory and a symlink are swapped", () => {
  it.each(Object.entries(readers))("%s never comes from the target of the symlink", async (_what, read) => {
    const swapping = await startSwapping(skillDirectory, join(root, "link"));
    const seen = new Set<string>();
    let wouldHave = 0;
    for (let attempt = 0; (wouldHave < 50 || seen.size === 0) && attempt < 200_000; attempt++) {
      if (attempt % 50 === 0) await setImmediate();
      if (readdirSync(join(skillDirectory, "inner")).includes("stolen")) wouldHave += 1;
      try {
        seen.add(JSON.stringify(await read()));
      } catch (error) {
        if (!isSkillsError(error)) throw error;
      }
    }
    await swapping.stop();
    expect(wouldHave).toBeGreaterThanOrEqual(50);
    expect(seen.size).toBeGreaterThan(0);
    expect([...seen].filter((text) => signs.some((sign) => text.includes(sign)))).toEqual([]);
  });

  it("writes nothing to the target of the symlink", async () => {
    const victim = join(victimDirectory, "inner", "file");
    const swapping = await startSwapping(skillDirectory, join(root, "link"));
    let written = 0;
    for (let attempt = 0; attempt < 500 || (written === 0 && attempt < 200_000); attempt++) {
      try {
        replaceFile(file(), "fixed");
        written += 1;
      } catch (error) {
        if (!isSkillsError(error)) throw error;
      }
    }
    await swapping.stop();
    expect(written).toBeGreaterThan(0);
    expect(readFileSync(victim, "utf8")).toBe(stolen);
    expect(readdirSync(join(victimDirectory, "inner")).sort()).toEqual(["file", "stolen"]);
  });
});

describe("holdDirectory and openAtRealPath", () => {
  it("open a real path and reject a path that contains a symlink", () => {
    const inner = join(skillDirectory, "inner");
    const held = holdDirectory(inner);
    const names = listHeld(held, inner).map(({ name }) => name);
    held.close();
    expect(names.sort()).toEqual(["file", "public"]);
    expect(() => holdDirectory(join(root, "link", "inner"))).toThrow("replaced by a symlink");
    expect(() => openAtRealPath(join(root, "link", "inner", "file"))).toThrow("replaced by a symlink");
  });
});

describe("openRegularFile", () => {
  it("opens a regular file", async () => {
    const path = join(root, "file");
    writeFileSync(path, "text");
    const handle = await openRegularFile(path);
    expect(await handle.readFile("utf8")).toBe("text");
    await handle.close();
    const descriptor = openRegularFileSync(path);
    closeSync(descriptor);
    expect(descriptor).toBeGreaterThan(2);
  });

  it.skipIf(process.platform === "win32")("rejects a directory and a FIFO without blocking", async () => {
    const inner = join(root, "inner");
    const pipe = join(root, "pipe");
    mkdirSync(inner);
    execFileSync("mkfifo", [pipe]);
    for (const target of [inner, pipe]) {
      await expect(openRegularFile(target)).rejects.toSatisfy(isSkillsError);
      expect(() => openRegularFileSync(target)).toThrow(`${target} cannot be read: it is not a regular file.`);
    }
  });
});
