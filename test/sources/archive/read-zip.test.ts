import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { isSkillsError } from "../../../src/base/errors.ts";
import { fault, read } from "./read.ts";
import { zipOf } from "./zip-blocks.ts";

const manifest = { name: "SKILL.md", content: "hello ".repeat(100) };
const link = { name: "link", content: "/etc/passwd", mode: 0o120777 };

describe("zip archives", () => {
  test("are read, stored or deflated, with executables, a comment and a directory at the top", async () => {
    const bytes = zipOf(
      [
        { name: "top/", mode: 0o40755 },
        { ...manifest, name: "top/SKILL.md" },
        { name: "top/ü.txt", content: "plain", stored: true },
        { name: "top/run.sh", content: "#!", mode: 0o100755 },
        { name: "top/empty" },
      ],
      { comment: "a comment" },
    );
    const { files } = await read(bytes, { stripTop: true });
    expect(files.map((file) => [file.path, Buffer.from(file.bytes).toString(), file.executable])).toEqual([
      ["SKILL.md", manifest.content, false],
      ["ü.txt", "plain", false],
      ["run.sh", "#!", true],
      ["empty", "", false],
    ]);
  });

  test("have no files or only links that are listed", async () => {
    expect((await read(zipOf([]))).files).toEqual([]);
    expect(await read(zipOf([link]), { links: "list" })).toMatchObject({
      links: [{ path: "link", target: "/etc/passwd" }],
    });
  });

  test("unpack only what is selected", async () => {
    const bytes = zipOf([manifest, { name: "broken", content: "x".repeat(100), crc: 1 }]);
    expect((await read(bytes, { keep: (name) => name === "SKILL.md" })).files).toHaveLength(1);
  });

  test.each([
    ["a path upwards", zipOf([{ name: "../x", content: "x" }]), "has a segment .."],
    ["an absolute path", zipOf([{ name: "/x", content: "x" }]), "is absolute"],
    ["a path with backslashes", zipOf([{ name: "a\\..\\x", content: "x" }]), "contains a backslash"],
    ["a path of another encoding", zipOf([{ name: Buffer.from([0xff]), content: "x" }]), "is not valid UTF-8"],
    ["a file twice", zipOf([manifest, manifest]), "is there twice"],
    ["a link", zipOf([link]), 'has a link, "link"; links are not unpacked'],
    ["a link with a long target", zipOf([{ ...link, content: "x".repeat(5_000) }]), "a link with a long target"],
    ["a device", zipOf([{ name: "x", mode: 0o020644 }]), "neither a file nor a directory"],
    ["a directory with content", zipOf([{ name: "a/", content: "x" }]), "has a directory with content"],
    ["an encrypted entry", zipOf([{ ...manifest, flags: 0x0801 }]), "has an encrypted or patched entry"],
    ["another compression", zipOf([{ ...manifest, method: 14 }]), "compressed in an unsupported way"],
    ["another name in its local header", zipOf([{ ...manifest, localName: "SKILL.mx" }]), "says different things"],
    ["a wrong checksum", zipOf([{ ...manifest, crc: 1 }]), "a checksum is wrong"],
    ["a size that is too small: a bomb", zipOf([{ ...manifest, size: 10 }]), "is larger than it says"],
    ["a size that is too large", zipOf([{ ...manifest, size: 10_000 }]), "a checksum is wrong"],
    ["a size of zip64", zipOf([{ ...manifest, size: 0xffffffff }]), "is a zip64 archive"],
    ["a stored size that differs", zipOf([{ name: "x", content: "x", stored: true, size: 2 }]), "is damaged"],
    ["overlapping entries", zipOf([manifest, { ...manifest, name: "SKILL.m2", offset: 0 }]), "overlapping entries"],
    ["more entries in its end than there are", zipOf([manifest], { count: 2 }), "is damaged"],
    ["fewer entries in its end than there are", zipOf([manifest], { count: 0 }), "is damaged"],
    ["a count of zip64", zipOf([manifest], { count: 0xffff }), "is a zip64 archive"],
    ["something after its end", Buffer.concat([zipOf([manifest]), Buffer.from("x")]), "is damaged, or no zip archive"],
    ["no end", zipOf([manifest]).subarray(0, -22), "is damaged, or no zip archive"],
    ["nothing but its first bytes", Buffer.from("PK\x03\x04"), "is damaged, or no zip archive"],
    [
      "something before the second directory",
      Buffer.concat([Buffer.from("PK\x03\x04"), zipOf([manifest])]),
      "is damaged",
    ],
  ])("are refused with %s", async (_what, bytes, why) => {
    expect(await fault(bytes)).toContain(why);
  });

  test("are refused beyond the limits, before anything is unpacked", async () => {
    const bomb = zipOf([{ name: "x", content: Buffer.alloc(60_000_000) }]);
    expect(bomb.length).toBeLessThan(100_000);
    expect(await fault(bomb)).toMatch(/has files of more than \d+ bytes/);
    const many = Array.from({ length: 3 }, (_, index) => ({ name: `${index}`, content: "x" }));
    expect(await fault(zipOf(many), { limits: { files: 2 } })).toContain("has more than 2 files");
    expect(await fault(zipOf(many), { limits: { entries: 2 } })).toContain("has more than 2 entries");
  });

  test("are refused or read as they were, wherever they are changed", async () => {
    const bytes = zipOf([manifest, { name: "b", content: "stored", stored: true }]);
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), fc.boolean(), async (at, value, cut) => {
        const changed = Buffer.from(bytes);
        changed[at] = value;
        try {
          await read(cut ? changed.subarray(0, at) : changed);
        } catch (error) {
          // Never a fault of our own, such as reading past the end.
          expect(isSkillsError(error) && error.code === "SOURCE_INVALID").toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });
});

const hasZip = (() => {
  try {
    execFileSync("zip", ["-v"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

test.runIf(hasZip)("reads what Info-ZIP writes, to a pipe and to a file", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-zip-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const skill = path.join(directory, "skill");
  mkdirSync(path.join(skill, "ü"), { recursive: true });
  writeFileSync(path.join(skill, "SKILL.md"), manifest.content);
  writeFileSync(path.join(skill, "ü/run.sh"), "#!");
  chmodSync(path.join(skill, "ü/run.sh"), 0o755);
  const pack = (...options: string[]): Buffer =>
    execFileSync("zip", ["-q", "-r", ...options, "-", "."], { cwd: skill, stdio: ["ignore", "pipe", "ignore"] });
  for (const bytes of [pack(), pack("-0"), pack("-fz-")]) {
    const { files } = await read(bytes);
    expect(files.map((file) => [file.path, Buffer.from(file.bytes).toString(), file.executable]).toSorted()).toEqual([
      ["SKILL.md", manifest.content, false],
      ["ü/run.sh", "#!", true],
    ]);
  }
  symlinkSync("/etc/passwd", path.join(skill, "link"));
  execFileSync("zip", ["-q", "-r", "-y", "../out.zip", "."], { cwd: skill });
  expect(await fault(readFileSync(path.join(directory, "out.zip")))).toContain("has a link");
});
