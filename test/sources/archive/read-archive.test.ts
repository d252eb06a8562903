import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { isSkillsError } from "../../../src/base/errors.ts";
import type { ArchiveOptions } from "../../../src/sources/archive/archive-content.ts";
import { remotePathFault } from "../../../src/sources/archive/check-path.ts";
import { parsePax } from "../../../src/sources/archive/tar-header.ts";
import { readArchive } from "../../../src/sources/archive/read-archive.ts";
import { gzipOfZeros } from "../hostile-server.ts";
import { fault, read } from "./read.ts";
import { endOfTar, paxEntry, tarEntry, tarOf } from "./tar-blocks.ts";

const manifest = { name: "SKILL.md", content: "hello" };

/** Paths and texts. */
async function contents(bytes: Uint8Array, options?: ArchiveOptions): Promise<Record<string, string>> {
  const { files } = await read(bytes, options);
  return Object.fromEntries(files.map((file) => [file.path, Buffer.from(file.bytes).toString()]));
}

describe("usable archives", () => {
  test("are read with and without gzip", async () => {
    const tar = tarOf(manifest, { name: "a/", type: "5" }, { name: "a/run.sh", content: "x", mode: "0000755\0" });
    for (const bytes of [tar, gzipSync(tar)]) {
      const { files, links } = await read(bytes);
      expect(files.map(({ path: name, executable }) => [name, executable])).toEqual([
        ["SKILL.md", false],
        ["a/run.sh", true],
      ]);
      expect(links).toEqual([]);
    }
  });

  test.each([
    ["of old, without magic", tarEntry({ ...manifest, magic: "", type: "\0" })],
    [
      "of GNU, whose prefix field is something else",
      tarEntry({ ...manifest, magic: "ustar  \0", prefix: "00000000000" }),
    ],
    [
      "as `tar czf skill.tar.gz .` names its entries",
      tarOf({ name: "./", type: "5" }, { ...manifest, name: "./SKILL.md" }).subarray(0, -1024),
    ],
  ])("are read in the form %s", async (_form, entries) => {
    expect(await contents(Buffer.concat([entries, endOfTar]))).toEqual({ "SKILL.md": "hello" });
  });

  test("have long paths as prefixes, in extended headers of POSIX, or of GNU", async () => {
    const long = `${"directory/".repeat(30)}file`;
    const bytes = tarOf(
      { ...manifest, name: "file", prefix: "a/b" },
      paxEntry("x", { mtime: "1.5", path: `x/${long}` }),
      { name: "short", content: "1" },
      tarEntry({ name: "././@LongLink", type: "L", content: `g/${long}\0` }),
      { name: "short", content: "2" },
    );
    expect(await contents(bytes)).toEqual({ "a/b/file": "hello", [`x/${long}`]: "1", [`g/${long}`]: "2" });
  });

  test("of git contain their commit, and lose the directory in which everything lies", async () => {
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const bytes = tarOf(
      paxEntry("g", { comment: commit }),
      { name: "repo-main/", type: "5" },
      { ...manifest, name: "repo-main/skills/one/SKILL.md" },
      { name: "repo-main/big", content: "x".repeat(5_000) },
      { name: "repo-main/link", type: "2", target: "/etc/passwd" },
    );
    const limits = { bytes: 100, files: 1 };
    const keep = (name: string): boolean => name !== "big";
    const content = await read(bytes, { stripTop: true, links: "list", keep, limits });
    expect(content.commit).toBe(commit);
    expect(content.files.map(({ path: name }) => name)).toEqual(["skills/one/SKILL.md"]);
    expect(content.links).toEqual([{ path: "link", target: "/etc/passwd" }]);
  });

  test("do not block the event loop", async () => {
    const bytes = gzipSync(tarOf({ name: "a", content: Buffer.alloc(20_000_000) }));
    let turns = 0;
    const count = setInterval(() => (turns += 1), 0);
    await read(bytes);
    clearInterval(count);
    expect(turns).toBeGreaterThan(5);
  });
});

describe("refused archives", () => {
  test.each([
    ["../x", "has a segment .."],
    ["a/../../x", "has a segment .."],
    ["/etc/passwd", "is absolute"],
    ["./../x", "has a segment .."],
    ["././x", "has a segment ."],
    ["a\\b", "contains a backslash"],
    ["C:/x", "starts with a drive letter"],
    [".git/hooks/post-checkout", "leads into a directory of git"],
    ["nul", "is a device on Windows"],
  ])("have the path %s", async (name, why) => {
    const expected = await fault(tarOf({ name, content: "x" }));
    expect(expected).toMatch(/^The archive has an unusable path: /);
    expect(expected).toContain(why);
    expect(await fault(tarOf(paxEntry("x", { path: name }), { name: "fine" }))).toContain(why);
    expect(await fault(tarOf({ name: "@", type: "L", content: `${name}\0` }, { name: "fine" }))).toContain(why);
    // What is not unpacked does not matter, and a whole repository is not refused for one file of it.
    expect((await read(tarOf({ name, content: "x" }), { keep: () => false })).files).toEqual([]);
    expect(await read(tarOf({ name, content: "x" }, manifest), { unusable: "list" })).toMatchObject({
      files: [{ path: "SKILL.md" }],
      unusable: [{ path: name.replace(/^\.\//, ""), why: expect.stringContaining(why) as string }],
    });
  });

  test.each([
    ["symbolic", "2", "/etc/passwd"],
    ["hard", "1", "SKILL.md"],
  ])("have %s links", async (_kind, type, target) => {
    expect(await fault(tarOf(manifest, { name: "a/link", type, target }))).toBe(
      'The archive has a link, "a/link"; links are not unpacked because they can lead anywhere.',
    );
  });

  test("write through a link that is listed", async () => {
    const bytes = tarOf({ name: "a", type: "2", target: "/tmp" }, { name: "a/x", content: "x" });
    expect(await fault(bytes, { links: "list" })).toContain('"a" is there twice');
  });

  test.each(["3", "4", "6", "7", "S", "V", "M", "\u00ff"])("have entries of type %j", async (type) => {
    expect(await fault(tarOf({ name: "x", type }))).toContain("only files and directories are unpacked");
  });

  test.each([
    ["a wrong checksum", tarOf({ ...manifest, checksum: "000000\0 " }), "a checksum is wrong"],
    ["a size of base 256", tarOf({ ...manifest, size: "\x80\0\0\0\0\0\0\0\0\0\x05" }), "a size is not octal"],
    ["a negative size", tarOf({ ...manifest, size: "-0000000005\0" }), "a size is not octal"],
    ["an empty size", tarOf({ ...manifest, size: "           \0" }), "a size is not octal"],
    ["a size beyond its end", tarOf({ ...manifest, size: "00000077777\0" }), "ends early"],
    ["no end", tarEntry(manifest), "ends early"],
    ["half an end", Buffer.concat([tarEntry(manifest), Buffer.alloc(512)]), "ends early"],
    ["a cut file", tarOf({ ...manifest, content: "x".repeat(2_000) }).subarray(0, 1_024), "ends early"],
    ["nothing", Buffer.alloc(0), "ends early"],
    ["content after its end", Buffer.concat([tarOf(manifest), tarEntry({ name: "x" })]), "has content after its end"],
    ["text", Buffer.from("<!doctype html>".repeat(100)), "no tar archive"],
    ["a file twice", tarOf(manifest, manifest), "is there twice"],
    ["two spellings of a file", tarOf(manifest, { ...manifest, name: "skill.md" }), "names the same file"],
    ["a directory with content", tarOf({ name: "a/", type: "5", content: "x" }), "has a directory with content"],
    ["a file whose name ends in a slash", tarOf({ name: "a/", content: "x" }), "has a directory with content"],
    ["a path of invalid UTF-8", tarOf({ name: "x" }).fill(0xff, 0, 1), "a checksum is wrong"],
    ["an extended header for all", tarOf(paxEntry("g", { path: "../x" }), manifest), "renames all its entries"],
    ["a sparse file", tarOf(paxEntry("x", { "GNU.sparse.major": "1" }), manifest), "has a sparse file"],
    [
      "an odd extended header",
      tarOf({ name: "p", type: "x", content: "99 path=x\n" }, manifest),
      "a damaged extended header",
    ],
    ["a NUL in a path", tarOf(paxEntry("x", { path: "a\0b" }), manifest), "has a NUL in an extended header"],
    ["a size of no number", tarOf(paxEntry("x", { size: "1e9" }), manifest), "a damaged extended header"],
    [
      "a huge extended header",
      tarOf({ name: "p", type: "x", content: "x".repeat(70_000) }),
      "extended header of more than",
    ],
    ["a header without its entry", tarOf(manifest, paxEntry("x", { path: "x" })), "ends early"],
  ])("have %s", async (_what, bytes, why) => {
    expect(await fault(bytes)).toContain(why);
    expect(await fault(gzipSync(bytes))).toContain(why);
  });

  test("unzip to more than the limit: a bomb is stopped early", async () => {
    const bomb = gzipOfZeros(80_000_000);
    expect(bomb.length).toBeLessThan(100_000);
    expect(await fault(bomb)).toMatch(/^The archive unpacks to more than \d+ bytes\.$/);
  });

  test("hold a bomb in one file, before its content is read", async () => {
    const tar = tarOf({ name: "a", size: "77777777777\0" });
    expect(await fault(gzipSync(tar))).toMatch(/has files of more than \d+ bytes/);
    expect(await fault(tar, { keep: () => false })).toContain("ends early");
  });

  test("are nested: what is packed twice is not unpacked twice", async () => {
    expect(await fault(gzipSync(gzipOfZeros(10_000_000)))).toContain("no tar archive");
  });

  test.each([
    ["more files than the limit", { files: 2 }, "has more than 2 files"],
    ["more bytes than the limit", { bytes: 2 }, "has files of more than 2 bytes"],
    ["more entries than the limit", { entries: 2 }, "has more than 2 entries"],
    ["more content than the limit", { unpacked: 1_024 }, "unpacks to more than 1024 bytes"],
  ])("have %s", async (_what, limits, why) => {
    const bytes = tarOf({ name: "a", content: "1" }, { name: "b", content: "1" }, { name: "c", content: "1" });
    expect(await fault(bytes, { limits })).toContain(why);
  });

  test("have two directories at the top where one is expected", async () => {
    expect(await fault(tarOf({ name: "a/x" }, { name: "b/x" }), { stripTop: true })).toContain(
      "more than one directory",
    );
    expect(await fault(tarOf({ name: "x" }), { stripTop: true })).toContain("has a file without a name");
  });

  test("are damaged or extended gzip", async () => {
    const bytes = gzipSync(tarOf(manifest));
    expect(await fault(bytes.subarray(0, -10))).toContain("cannot be unzipped");
    expect(await fault(Buffer.from(bytes).fill(7, 20, 30))).toContain("cannot be unzipped");
    expect(await fault(Buffer.concat([bytes, Buffer.from("rest")]))).toContain("cannot be unzipped");
    expect(await fault(Buffer.concat([bytes, Buffer.alloc(10)]))).toContain("has content after its end");
    expect(await fault(Buffer.concat([bytes, bytes]))).toContain("has content after its end");
  });
});

test("archives are refused or read as they were, wherever they are changed", async () => {
  const plain = tarOf(paxEntry("x", { path: "a/b" }), { name: "short", content: "1" }, manifest, {
    name: "d/",
    type: "5",
  });
  const packed = gzipSync(plain);
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.nat(plain.length - 1), fc.nat(255), fc.boolean(), async (zip, at, value, cut) => {
      const bytes = Buffer.from(zip ? packed : plain);
      const index = at % bytes.length;
      bytes[index] = value;
      try {
        const { files } = await read(cut ? bytes.subarray(0, index) : bytes);
        expect(files.every((file) => remotePathFault(file.path) === undefined)).toBe(true);
      } catch (error) {
        // Never a fault of our own, such as reading past the end.
        expect(isSkillsError(error) && error.code === "SOURCE_INVALID").toBe(true);
      }
    }),
    { numRuns: 600 },
  );
});

test("extended headers of any text are refused or read", () => {
  const piece = fc.constantFrom("9", "10 ", "path=", "x", "\n", "=", " ", "size=1", "\0", "12 path=a/b\n");
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      try {
        parsePax(Buffer.from(pieces.join("")));
      } catch (error) {
        expect(isSkillsError(error)).toBe(true);
      }
    }),
  );
  expect(parsePax(Buffer.from("12 path=a/b\n10 size=1\n"))).toEqual(
    new Map([
      ["path", "a/b"],
      ["size", "1"],
    ]),
  );
});

test("rejects with the reason of its signal", async () => {
  const left = new AbortController();
  left.abort(new Error("left"));
  await expect(readArchive(tarOf(manifest), {}, left.signal)).rejects.toThrow("left");
});

const hasTar = process.platform !== "win32";

test.runIf(hasTar)("reads what the system's tar writes, in all its formats", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-tar-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const long = `${"long-directory/".repeat(10)}${"file".repeat(10)}.txt`;
  const skill = path.join(directory, "skill");
  mkdirSync(path.dirname(path.join(skill, long)), { recursive: true });
  writeFileSync(path.join(skill, "SKILL.md"), "hello");
  writeFileSync(path.join(skill, "ü.txt"), "x".repeat(1_000));
  writeFileSync(path.join(skill, long), "");
  writeFileSync(path.join(skill, "run.sh"), "#!/bin/sh\n");
  chmodSync(path.join(skill, "run.sh"), 0o755);
  const expected = { "SKILL.md": "hello", "run.sh": "#!/bin/sh\n", "ü.txt": "x".repeat(1_000), [long]: "" };
  const pack = (...options: string[]): Buffer => execFileSync("tar", [...options, "-f", "-", "."], { cwd: skill });
  for (const format of ["ustar", "pax", "gnu"]) {
    const packed = (() => {
      try {
        return pack("--format", format, "-cz");
      } catch {
        return undefined; // The tar of BSD does not know every format.
      }
    })();
    if (packed === undefined && format === "gnu") continue;
    const { files } = await read(packed ?? Buffer.alloc(0));
    expect(Object.fromEntries(files.map((file) => [file.path, Buffer.from(file.bytes).toString()]))).toEqual(expected);
    expect(files.filter(({ executable }) => executable).map((file) => file.path)).toEqual(["run.sh"]);
  }
  symlinkSync("/etc/passwd", path.join(skill, "link"));
  expect(await fault(pack("-c"))).toContain("has a link");
  expect((await read(pack("-c"), { links: "list" })).links).toEqual([{ path: "link", target: "/etc/passwd" }]);
});
