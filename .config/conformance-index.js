import { readdirSync, readFileSync } from "node:fs";
import { checkTranscript } from "../.build/conformance/report.js";
import { conformanceRules } from "../.build/conformance/rules.js";
import { readTranscript } from "../.build/conformance/transcript.js";

const folder = new URL("../schema/conformance/", import.meta.url);

/**
 * The text of `schema/conformance/index.json`: the rules as they are in the code, and the transcripts as they lie in the folders.
 * @returns {string}
 */
export function conformanceIndex() {
  const rules = conformanceRules.map(({ id, title, severity, appliesTo, source, document, section, sentence }) => {
    const files = readdirSync(new URL(`${id}/`, folder)).sort();
    const transcripts = files.map((name) => {
      const file = `${id}/${name}`;
      const findings = checkTranscript(readTranscript(readFileSync(new URL(file, folder), "utf8"), file));
      const own = findings.filter(({ rule }) => rule === id).map(({ line }) => line);
      const others = findings.filter(({ rule }) => rule !== id).map(({ rule }) => rule);
      const expected = name.startsWith("fail-") ? "fail" : "pass";
      return { file, expected, lines: [...new Set(own)], alsoBroken: [...new Set(others)].sort() };
    });
    return { id, title, severity, appliesTo, source, document, section, sentence, transcripts };
  });
  return `${JSON.stringify({ $schema: "../ConformanceIndex.json", rules }, null, 2)}\n`;
}
