import type { ConformanceRule } from "../rule.ts";
import { conformanceRules } from "../rules.ts";
import type { ConnectionReport, ConformanceReport } from "../report.ts";

/** The report as lines for people. Contains text of the peer: the caller makes each line safe to print. */
export function* textReport(report: ConformanceReport): Generator<string> {
  const broken = new Set<string>();
  for (const connection of report.connections) {
    yield headline(connection);
    for (const fact of factsOf(connection, report.subject)) yield `  ${fact}`;
    for (const note of connection.notes) yield `  note: ${note}`;
    for (const fault of connection.faults) yield `  error: ${fault}`;
    for (const { rule, severity, line, message } of connection.findings) {
      yield `  ${severity}: line ${line}: ${message} [${rule}]`;
      broken.add(rule);
    }
    yield "";
  }
  for (const { id, source } of conformanceRules)
    if (broken.has(id)) yield `${id}: “${source.sentence}” (${placeOf(source)})`;
  if (broken.size > 0) yield "";
  for (const { origin, checked, errors, warnings } of report.verdicts) {
    const isChosen = report.profiles.includes(origin);
    yield `profile ${origin}: ${checked ? counts({ errors, warnings }) : "nothing was checked"}${isChosen ? "" : " (does not count)"}`;
  }
  yield verdict(report);
}

function headline({ name, about, agent, client, protocol, messages }: ConnectionReport): string {
  const who = [agent, client].filter((part) => part !== undefined).join(" with ");
  const facts = [
    who,
    protocol === undefined ? "" : `ACP v${protocol}`,
    messages === 1 ? "1 message" : `${messages} messages`,
  ];
  return `${name}${about === undefined ? "" : `, ${about}`}: ${facts.filter((fact) => fact !== "").join(", ")}`;
}

function* factsOf(connection: ConnectionReport, subject: ConformanceReport["subject"]): Generator<string> {
  const { advertised, forms, optIn, clientMethods } = connection;
  if (subject !== "agent") {
    const options = Object.entries(optIn ?? {}).map(([option, value]) => `${option}: ${value}`);
    yield optIn === undefined ? "the client did not opt in to skills" : `the client opted in: ${options.join(", ")}`;
    const methods = Object.entries(clientMethods).map(([method, sent]) =>
      sent === 1 ? method : `${method} (${sent})`,
    );
    if (methods.length > 0) yield `the client sent: ${methods.join(", ")}`;
  }
  if (subject !== "client")
    yield `advertised: ${advertised === undefined ? "nothing" : JSON.stringify(advertised).slice(0, 400)}`;
  if (forms.length === 0) yield "no lists of skills or commands";
  for (const { form, updates, most, line } of forms)
    yield `line ${line}: ${form} (${most}${updates === 1 ? "" : `, ${updates} updates`})`;
}

function placeOf({ document, section }: ConformanceRule["source"]): string {
  return section === undefined ? document : `${document}, “${section}”`;
}

function verdict(report: ConformanceReport): string {
  if (report.conformant !== null) return `${report.conformant ? "conformant" : "not conformant"}: ${counts(report)}`;
  const early = report.connections.find(({ unfinished }) => unfinished !== undefined)?.unfinished;
  return early === undefined ? "nothing was checked: the agent announced no skills" : `not finished: ${early}`;
}

function counts({ errors, warnings }: Pick<ConformanceReport, "errors" | "warnings">): string {
  const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;
  return `${count(errors, "error")}, ${count(warnings, "warning")}`;
}
