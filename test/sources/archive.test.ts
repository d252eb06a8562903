import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { byCodePoint } from "../../src/base/text/code-points.ts";
import { checkCollisions, remotePathFault } from "../../src/sources/archive/check-path.ts";
import { readArchive } from "../../src/sources/archive/read-archive.ts";
import { toTarGz } from "../../src/sources/archive.ts";
import type { SkillFile } from "../../src/sources/reader.ts";

const signal = new AbortController().signal;

function file(name: string, text = "x", executable = false): SkillFile {
  return { path: name, bytes: Buffer.from(text), executable };
}

test("writes SKILL.md first and the rest by code point, whatever the order", async () => {
  const files = [file("b"), file("a/b"), file("SKILL.md"), file("Z"), file("\u{1f600}"), file("\uff5e")];
  const one = await toTarGz(files);
  expect(Buffer.from(await toTarGz(files.toReversed())).equals(one)).toBe(true);
  const { files: read } = await readArchive(one, {}, signal);
  expect(read.map((each) => each.path)).toEqual(["SKILL.md", "Z", "a/b", "b", "\uff5e", "\u{1f600}"]);
});

test("writes no time, owner or platform", async () => {
  const packed = await toTarGz([file("SKILL.md", "hi")]);
  expect([...packed.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);
  const tar = gunzipSync(packed);
  expect(tar).toHaveLength(4 * 512);
  expect(tar.subarray(100, 148).toString()).toBe("0000644\x000000000\x000000000\x0000000000002\x0000000000000\0");
  expect(tar.subarray(156, 345).toString()).toBe(
    `0${"\0".repeat(100)}ustar\x0000${"\0".repeat(64)}0000000\x000000000\0`,
  );
});

test("divides long paths between prefix and name, and refuses those that do not fit", async () => {
  const longest = `${"p".repeat(155)}/${"n".repeat(100)}`;
  const { files } = await readArchive(await toTarGz([file(longest)]), {}, signal);
  expect(files[0]?.path).toBe(longest);
  for (const unfit of ["n".repeat(101), `${"p".repeat(156)}/n`, `a/${"n".repeat(101)}`, "ü".repeat(51)])
    await expect(toTarGz([file(unfit)])).rejects.toMatchObject({ code: "INVALID_PATH" });
});

const segment = fc.string({
  minLength: 1,
  maxLength: 30,
  unit: fc.constantFrom("a", "b", "C", "é", "日", "-", "_", ".", " ", "x"),
});
const files = fc
  .uniqueArray(
    fc.record({
      path: fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join("/")),
      bytes: fc.uint8Array({ maxLength: 1_500 }),
      executable: fc.boolean(),
    }),
    { selector: (each) => each.path, maxLength: 12 },
  )
  .filter((list) => {
    try {
      checkCollisions(list, "archive");
    } catch {
      return false;
    }
    return list.every(({ path }) => remotePathFault(path) === undefined);
  });

test("what it writes is read again", async () => {
  await fc.assert(
    fc.asyncProperty(files, async (list) => {
      const fits = await toTarGz(list).catch(() => undefined);
      if (fits === undefined) return;
      const read = await readArchive(fits, {}, signal);
      const plain = (each: SkillFile): unknown => [each.path, [...each.bytes], each.executable];
      const order = (a: SkillFile, b: SkillFile): number => byCodePoint(a.path, b.path);
      expect(read.files.toSorted(order).map(plain)).toEqual(list.toSorted(order).map(plain));
    }),
    { numRuns: 60 },
  );
});

test.runIf(process.platform !== "win32")("what it writes is unpacked by the system's tar", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-tar-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const long = `${"long-directory/".repeat(9)}file.txt`;
  const list = [
    file("SKILL.md", "hello"),
    file("run.sh", "#!", true),
    file("ü/日.txt", "y".repeat(512)),
    file(long, ""),
  ];
  mkdirSync(path.join(directory, "out"));
  execFileSync("tar", ["-xzf", "-", "-C", path.join(directory, "out")], { input: await toTarGz(list) });
  const unpacked = readdirSync(path.join(directory, "out"), { recursive: true, withFileTypes: true });
  expect(unpacked.filter((entry) => entry.isFile())).toHaveLength(list.length);
  for (const { path: name, bytes, executable } of list) {
    const real = path.join(directory, "out", name);
    expect(readFileSync(real).equals(bytes)).toBe(true);
    expect((statSync(real).mode & 0o100) !== 0).toBe(executable);
  }
});
