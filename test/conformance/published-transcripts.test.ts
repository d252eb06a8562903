import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { conformanceIndex } from "../../.config/conformance-index.js";
import { conformanceIndexSchema } from "../../.config/conformance-schema.js";
import { checkTranscript, makeReport } from "../../src/conformance/report.ts";
import { conformanceRules } from "../../src/conformance/rules.ts";
import { readTranscript } from "../../src/conformance/transcript.ts";

const folder = new URL("../../schema/conformance/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, folder), "utf8");
const index = conformanceIndexSchema.parse(JSON.parse(read("index.json")));
const transcripts = index.rules.flatMap(({ id, transcripts: files }) => files.map((file) => ({ id, ...file })));

test("index.json is what `npm run schema` writes, and satisfies its schema", () => {
  expect(read("index.json")).toBe(conformanceIndex());
  const schema = JSON.parse(read("../ConformanceIndex.json")) as object;
  expect(new Ajv2020({ strict: true }).compile(schema)(JSON.parse(read("index.json")))).toBe(true);
});

test("every rule has a folder, a sentence, and at least one passing and one failing transcript", () => {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).sort()).toEqual(conformanceRules.map(({ id }) => id).sort());
  for (const { id, sentence, transcripts: files } of index.rules) {
    expect(sentence, id).not.toBe("");
    expect(new Set(files.map(({ expected }) => expected)), id).toEqual(new Set(["pass", "fail"]));
  }
});

test("each sentence of this project stands in the document that its rule names, and no rule names a document of elsewhere as its own", () => {
  const own = conformanceRules.filter(({ source }) => source === "acp-skills");
  for (const { id, document, section, sentence } of own) {
    const text = readFileSync(new URL(`../../${document}`, import.meta.url), "utf8");
    expect(text, id).toContain(`### ${section}\n`);
    expect(text, id).toContain(`- ${sentence}\n`);
  }
  const others = conformanceRules.filter(({ source }) => source !== "acp-skills");
  for (const { id, document } of others)
    expect(document, id).toMatch(/^(?:RFD Agent Skills(?: List)?$|ACP(?: v2)?, [A-Z]|JSON-RPC 2\.0)/);
});

test("the table of the README names every rule with its source and whom it applies to", () => {
  const rows = conformanceRules.map(
    ({ id, source, appliesTo, title, severity }) =>
      `| \`${id}\` | ${source} | ${appliesTo} | ${title}${severity === "warning" ? " (warning)" : ""} |`,
  );
  const table = read("README.md").match(/^\| `.* \| (?:agent|client) \| .*\|$/gm);
  expect(table).toEqual(rows);
});

test.each(transcripts)(
  "our verdict on $file is the expected one: $expected",
  ({ id, file, expected, lines, alsoBroken }) => {
    const findings = checkTranscript(readTranscript(read(file), file));
    const own = findings.filter(({ rule }) => rule === id);
    expect(own.length > 0 ? "fail" : "pass").toBe(expected);
    expect([...new Set(own.map(({ line }) => line))]).toEqual(lines);
    expect([...new Set(findings.filter(({ rule }) => rule !== id).map(({ rule }) => rule))].sort()).toEqual(alsoBroken);
  },
);

test("passing transcripts break no rule at all, of the side that the kit did not play", () => {
  for (const { file } of transcripts.filter(({ expected }) => expected === "pass")) {
    const entries = readTranscript(read(file), file);
    expect(makeReport("both", [{ name: file, entries }]).connections[0]?.findings, file).toEqual([]);
  }
});

test("transcripts name nothing of the machine that recorded them", () => {
  for (const { file } of transcripts) {
    expect(read(file), file).not.toMatch(
      /acp-skills-(?:conformance|playground)-\w{6}|\/work\/w\/|\/root\/|127\.0\.0\.1/,
    );
    expect(read(file), file).not.toMatch(/[Bb]earer [\w-]{8}|sk-[\w-]{16}/);
  }
});
