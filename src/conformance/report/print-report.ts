import { counted } from "../../base/text/code-points.ts";
import { toEscape } from "../../base/text/unsafe-characters.ts";
import type { ConformanceRule } from "../rule.ts";
import { conformanceRules } from "../rules.ts";
import type { ConnectionReport, ConformanceReport } from "../report.ts";

/** The report as lines for the user. They contain text of the peer: the caller makes each line safe to print. */
export function* textReport(report: ConformanceReport): Generator<string> {
  const broken = new Set<string>();
  for (const connection of report.connections) {
    yield headline(connection);
    for (const fact of factsOf(connection, report.subject)) yield `  ${fact}`;
    for (const note of connection.notes) yield `  note: ${note}`;
    for (const fault of connection.faults) yield `  error: ${fault}`;
    for (const { rule, source, severity, line, message } of connection.findings) {
      yield `  ${severity}: line ${line}: ${message} [${source}: ${rule}]`;
      broken.add(rule);
    }
    yield "";
  }
  for (const rule of conformanceRules)
    if (broken.has(rule.id)) yield `${rule.id}: “${rule.sentence}” (${citationOf(rule)})`;
  if (broken.size > 0) yield "";
  for (const { source, checked, errors, warnings } of report.verdicts) {
    const isChosen = report.sources.includes(source);
    yield `rules of ${source}: ${checked ? counts({ errors, warnings }) : "nothing was checked"}${isChosen ? "" : " (does not count)"}`;
  }
  yield verdict(report);
}

function headline({ name, about, agent, client, protocol, messages }: ConnectionReport): string {
  const who = [agent, client].filter((part) => part !== undefined).join(" with ");
  const facts = [who, protocol === undefined ? "" : `ACP v${protocol}`, counted(messages, "message")];
  return `${name}${about === undefined ? "" : `, ${about}`}: ${facts.filter((fact) => fact !== "").join(", ")}`;
}

function* factsOf(connection: ConnectionReport, subject: ConformanceReport["subject"]): Generator<string> {
  const { advertised, forms, optIn, clientMethods, skillBlocks } = connection;
  if (subject !== "agent") {
    const options = Object.entries(optIn ?? {}).map(([option, value]) => `${option}: ${value}`);
    yield optIn === undefined ? "the client did not opt in to skills" : `the client opted in: ${options.join(", ")}`;
    if (connection.skillEntries) yield "the client declared session.commands.skill";
    const methods = Object.entries(clientMethods).map(([method, sent]) =>
      sent === 1 ? method : `${method} (${sent})`,
    );
    if (methods.length > 0) yield `the client sent: ${methods.join(", ")}`;
  }
  if (subject !== "client") {
    yield `advertised: ${advertised === undefined ? "nothing" : JSON.stringify(advertised).slice(0, 400)}`;
    if (skillBlocks !== "nowhere") yield `skill blocks in prompts: ${skillBlocks}`;
  }
  if (forms.length === 0) yield "no lists of skills or commands";
  for (const { form, updates, most, line } of forms)
    yield `line ${line}: ${form} (${most}${updates === 1 ? "" : `, ${updates} updates`})`;
}

function citationOf({ document, section }: ConformanceRule): string {
  return section === undefined ? document : `${document}, “${section}”`;
}

function verdict(report: ConformanceReport): string {
  if (report.conformant !== null) return `${report.conformant ? "conformant" : "not conformant"}: ${counts(report)}`;
  const early = report.connections.find(({ unfinished }) => unfinished !== undefined)?.unfinished;
  return early === undefined ? "nothing was checked: the agent announced no skills" : `not finished: ${early}`;
}

function counts({ errors, warnings }: Pick<ConformanceReport, "errors" | "warnings">): string {
  return `${counted(errors, "error")}, ${counted(warnings, "warning")}`;
}

/** The report as JUnit XML: a test suite for each connection, a test case for each rule. Valid XML 1.0, whatever the texts contain. */
export function* junitReport({ subject, connections, sources, verdicts }: ConformanceReport): Generator<string> {
  const unchecked = new Set(verdicts.flatMap(({ source, checked }) => (checked ? [] : source)));
  const rules = conformanceRules.filter(
    ({ appliesTo, source }) => (subject === "both" || appliesTo === subject) && sources.includes(source),
  );
  const skipped = rules.filter(({ source }) => unchecked.has(source)).length;
  const cases = rules.length + 1;
  const failures = connections.map((connection) => failedCases(connection, sources));
  const failed = failures.reduce((total, number) => total + number, 0);
  yield '<?xml version="1.0" encoding="UTF-8"?>\n';
  yield `<testsuites name="acp-skills conformance" tests="${cases * connections.length}" failures="${failed}" errors="0">\n`;
  for (const [index, { name, faults, findings }] of connections.entries()) {
    yield `  <testsuite name="${escapeXml(name)}" tests="${cases}" failures="${failures[index] ?? 0}" errors="0" skipped="${skipped}">\n`;
    yield testCase(name, "connection", faults, []);
    for (const { id, source } of rules) {
      if (unchecked.has(source)) {
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

function failedCases({ faults, findings }: ConnectionReport, sources: ConformanceReport["sources"]): number {
  const broken = new Set(
    findings.flatMap(({ severity, source, rule }) => (severity === "error" && sources.includes(source) ? rule : [])),
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

/** Escapes text for XML 1.0, which forbids most control characters even as references; they and bidirectional ones become escapes. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => markup[character] ?? "").replace(unsafe, toEscape);
}

const unsafe = /[^\n\P{C}]|[\u2028\u2029]/gu;
