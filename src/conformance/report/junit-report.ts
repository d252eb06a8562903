import { conformanceRules } from "../rules.ts";
import type { ConnectionReport, ConformanceReport } from "../report.ts";

/** The report as JUnit XML: a test suite for each connection, a test case for each rule. Valid XML 1.0, whatever the texts contain. */
export function* junitReport({ subject, connections, profiles, verdicts }: ConformanceReport): Generator<string> {
  const unchecked = new Set(verdicts.flatMap(({ origin, checked }) => (checked ? [] : origin)));
  const rules = conformanceRules.filter(
    ({ appliesTo, source }) => (subject === "both" || appliesTo === subject) && profiles.includes(source.origin),
  );
  const skipped = rules.filter(({ source }) => unchecked.has(source.origin)).length;
  const cases = rules.length + 1;
  const failures = connections.map((connection) => failedCases(connection, profiles));
  const failed = failures.reduce((total, number) => total + number, 0);
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield `<testsuites name="acp-skills conformance" tests="${cases * connections.length}" failures="${failed}" errors="0">\n`;
  for (const [index, { name, faults, findings }] of connections.entries()) {
    yield `  <testsuite name="${escapeXml(name)}" tests="${cases}" failures="${failures[index] ?? 0}" errors="0" skipped="${skipped}">\n`;
    yield testCase(name, "connection", faults, []);
    for (const { id, source } of rules) {
      if (unchecked.has(source.origin)) {
        yield `    <testcase classname="${escapeXml(name)}" name="${id}" time="0"><skipped message="nothing was checked"/></testcase>\n`;
        continue;
      }
      const own = findings.filter(({ rule }) => rule === id);
      const linesOf = (wanted: string): string[] =>
        own.filter(({ severity }) => severity === wanted).map(({ line, message }) => `line ${line}: ${message}`);
      yield testCase(name, id, linesOf("error"), linesOf("warning"));
    }
    yield "  </testsuite>\n";
  }
  yield "</testsuites>\n";
}

function testCase(suite: string, name: string, errors: readonly string[], warnings: readonly string[]): string {
  const open = `    <testcase classname="${escapeXml(suite)}" name="${escapeXml(name)}" time="0"`;
  const [first] = errors;
  const failure =
    first === undefined
      ? ""
      : `<failure type="${escapeXml(name)}" message="${escapeXml(first)}">${escapeXml(errors.join("\n"))}</failure>`;
  const output = warnings.length === 0 ? "" : `<system-out>${escapeXml(warnings.join("\n"))}</system-out>`;
  return failure + output === "" ? `${open}/>\n` : `${open}>${failure}${output}</testcase>\n`;
}

function failedCases({ faults, findings }: ConnectionReport, profiles: ConformanceReport["profiles"]): number {
  const broken = new Set(
    findings.flatMap(({ severity, origin, rule }) => (severity === "error" && profiles.includes(origin) ? rule : [])),
  );
  return broken.size + (faults.length > 0 ? 1 : 0);
}

const markup: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** XML 1.0 forbids most control characters even as references: they become visible escapes, and so do those that reorder text. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => markup[character] ?? "").replace(unsafe, toEscape);
}

const unsafe = /[^\n\P{C}]|[\u2028\u2029]/gu;

function toEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
