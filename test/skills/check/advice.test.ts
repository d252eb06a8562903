import fc from "fast-check";
import { expect, test } from "vitest";
import { adviceAbout, parseAdvice, readProjectAdvice } from "../../../src/skills/check/advice.ts";
import { diskSkillFiles } from "../../../src/skills/files.ts";
import { sarifLog } from "./sarif-log.ts";
import { useTemporaryProject } from "../../cli/temporary-project.ts";

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
const read = (value: unknown) => parseAdvice(bytesOf(value), "scan.sarif");

test("reads results with the name of their tool, place and hash, as plain text", () => {
  const log = sarifLog([
    { uri: "skills/pdf/SKILL.md", line: 3, text: "Hides\u202e a\nprompt", level: "error", sha256: "AB".repeat(32) },
    { uri: "file:///work/skills/a%20b/x.sh", text: "" },
  ]);
  expect(read(log)).toEqual([
    {
      ...{ tool: "Scanner", rule: "rule-1", severity: "error", message: "Hides a prompt" },
      ...{ file: "skills/pdf/SKILL.md", line: 3, sha256: "ab".repeat(32) },
    },
    { tool: "Scanner", rule: "rule-1", severity: "warning", message: "", file: "/work/skills/a b/x.sh" },
  ]);
});

test("leaves out what passed", () => {
  const results = [{ kind: "pass" }, { level: "none" }, { ruleId: "r", message: { text: "It reads keys." } }, 7];
  const run = { tool: { driver: { name: "S" } }, results };
  expect(read({ version: "2.1.0", runs: [run] }).map(({ message }) => message)).toEqual([
    "It reads keys.",
    "no message",
  ]);
});

test.each([
  ["it is not a JSON object", Buffer.from("nothing")],
  ['its version is "2.0.0"', bytesOf({ version: "2.0.0", runs: [] })],
  ['its version is "missing"', bytesOf({})],
  ["it has no array `runs`", bytesOf({ version: "2.1.0" })],
  ["it has more than 8 MiB, the limit", Buffer.alloc(8 * 1024 * 1024 + 1, " ")],
  ["it has more than 200000 keys and values, the limit", bytesOf({ version: "2.1.0", runs: Array(200_001).fill(1) })],
])("refuses a file because %s", (why, bytes) => {
  expect(() => parseAdvice(bytes, "scan.sarif")).toThrow(`scan.sarif: ${why}; expected a SARIF 2.1.0 log`);
});

test("whatever a log holds, its texts are short and without control characters, or it is refused", () => {
  const value = fc.jsonValue({ maxDepth: 6 });
  const key = fc.constantFrom("tool", "driver", "name", "results", "message", "text", "locations", "physicalLocation");
  const nested = fc.dictionary(key, fc.oneof(value, fc.array(fc.dictionary(key, value))));
  fc.assert(
    fc.property(fc.array(fc.oneof(nested, value)), (runs) => {
      for (const { tool, rule, message, file } of read({ version: "2.1.0", runs }))
        for (const text of [tool, rule, message, file]) expect(text).toMatch(/^[^\p{Cc}\p{Cf}]{0,512}$/u);
    }),
  );
});

test("finds what is about a skill by the name of its directory and its files, wherever it was scanned", () => {
  const files = [
    { path: "SKILL.md", sha256: "a".repeat(64) },
    { path: "scripts/run.sh", sha256: "b".repeat(64) },
  ];
  const about = (uri: string, hash?: string) =>
    adviceAbout(read(sarifLog([{ uri, text: "x", ...(hash !== undefined && { sha256: hash }) }])), "pdf", files).map(
      ({ path, isOutdated }) => [path, isOutdated],
    );
  expect(about(".agents/skills/pdf/SKILL.md")).toEqual([["SKILL.md", false]]);
  expect(about("file:///tmp/pdf/pdf/scripts/run.sh", "b".repeat(64))).toEqual([["scripts/run.sh", false]]);
  expect(about("pdf/SKILL.md", "c".repeat(64))).toEqual([["SKILL.md", true]]);
  expect(about("pdf")).toEqual([["", false]]);
  expect(about("pdf/other.md")).toEqual([]);
  expect(about("docs/SKILL.md")).toEqual([]);
  expect(about("pdfs/SKILL.md")).toEqual([]);
});

const project = useTemporaryProject();

test("a project's files of advice are read, up to a limit; what cannot be used is said and hides no other", () => {
  expect(readProjectAdvice(project.directory, diskSkillFiles())).toEqual({ advice: [], problems: [] });
  project.write(".agents/advice/a.sarif", "{");
  project.write(".agents/advice/b.sarif", JSON.stringify(sarifLog([{ uri: "pdf/SKILL.md", text: "x" }])));
  project.write(".agents/advice/c.sarif/x", "a directory");
  project.write(".agents/advice/notes.txt", "no log");
  const { advice, problems } = readProjectAdvice(project.directory, diskSkillFiles());
  expect(advice).toHaveLength(1);
  expect(problems).toEqual([
    ".agents/advice/a.sarif: it is not a JSON object; expected a SARIF 2.1.0 log",
    expect.stringContaining(".agents/advice/c.sarif"),
  ]);
  for (let index = 0; index < 9; index++) project.write(`.agents/advice/${String(index)}.sarif`, "{");
  expect(readProjectAdvice(project.directory, diskSkillFiles()).problems).toContain(
    "only the first 8 files of .agents/advice are read",
  );
});
