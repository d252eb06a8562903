import type { SkillsOptIn } from "../client/initialize.ts";
import { fieldsOf } from "../client/json.ts";
import {
  type Exchange,
  advertisedIn,
  isMarkedAsSkill,
  judgeIn,
  readExchange,
  sentCommands,
  skillUpdates,
} from "./exchange.ts";
import { invokingPrompts, sentSkillEntries } from "./skill-entries.ts";
import { type RuleSource, type RuleViolation, ruleSources, type ConformanceRule } from "./rule.ts";
import type { TranscriptEntry, Side } from "./transcript.ts";
import { summariseForms } from "./report/summarise-forms.ts";
import { conformanceRules } from "./rules.ts";

export { junitReport, textReport } from "./report/print-report.ts";

/** The report on one connection. */
export type ConnectionReport = ReturnType<typeof reportOn>;

/** The verdict of the rules of one source. */
interface SourceReport {
  readonly source: RuleSource;
  /** Whether the connections had anything that these rules are about. */
  readonly checked: boolean;
  readonly errors: number;
  readonly warnings: number;
}

export interface ConformanceReport {
  /** The side whose rules were checked. */
  readonly subject: Side | "both";
  /** The verdict by the rules of `sources`; null if, without errors, nothing about skills was checked or the check ended early. */
  readonly conformant: boolean | null;
  /** The sources whose rules decide, besides the faults. */
  readonly sources: readonly RuleSource[];
  readonly errors: number;
  readonly warnings: number;
  /** The verdict of each requested source; of every source if none was named. */
  readonly verdicts: readonly SourceReport[];
  readonly connections: readonly ConnectionReport[];
}

/** The sources of all rules but those of acp-skills. */
const decidingSources = ruleSources.filter((source) => source !== "acp-skills");

interface Checked {
  readonly name: string;
  readonly about?: string | undefined;
  readonly entries: readonly TranscriptEntry[];
  /** Steps that could not be done; each makes the report not conformant. */
  readonly faults?: readonly string[];
  readonly notes?: readonly string[];
  /** Why the check ended early; absent if it did not. */
  readonly unfinished?: string | undefined;
}

/** Checks every connection by the rules of `asked`. By default checks every rule, but those of acp-skills do not decide. Pure. */
export function makeReport(
  subject: ConformanceReport["subject"],
  connections: readonly Checked[],
  asked?: readonly RuleSource[],
): ConformanceReport {
  const shown = ruleSources.filter((source) => asked === undefined || asked.includes(source));
  const sources = asked === undefined ? decidingSources : shown;
  const exchanges = connections.map(({ entries }) => readExchange(entries));
  const reports = connections.map((connection) => reportOn(subject, connection, shown));
  const findings = reports.flatMap((report) => report.findings);
  const verdicts = shown.map((source): SourceReport => {
    const own = findings.filter((finding) => finding.source === source);
    const errors = own.filter(({ severity }) => severity === "error").length;
    const checked = exchanges.some((exchange) => isAbout[source](exchange, subject));
    return { source, checked: checked || own.length > 0, errors, warnings: own.length - errors };
  });
  const chosen = verdicts.filter(({ source }) => sources.includes(source));
  const sum = (count: (verdict: SourceReport) => number): number =>
    chosen.reduce((total, verdict) => total + count(verdict), 0);
  const errors = sum((verdict) => verdict.errors) + reports.flatMap(({ faults }) => faults).length;
  const isOpen = !hasSkills(subject, shown, exchanges) || reports.some(({ unfinished }) => unfinished !== undefined);
  const conformant = errors > 0 ? false : isOpen ? null : true;
  const warnings = sum((verdict) => verdict.warnings);
  return { subject, conformant, sources, errors, warnings, verdicts, connections: reports };
}

/** Whether an exchange has what the rules of a source are about. */
const isAbout: Readonly<Record<RuleSource, (exchange: Exchange, subject: ConformanceReport["subject"]) => boolean>> = {
  "agent-skills-rfd": (exchange, subject) =>
    invokingPrompts(exchange).length > 0 ||
    (subject !== "client" && sentSkillEntries(exchange).length > 0) ||
    (subject !== "agent" && exchange.negotiation?.takesSkillEntries === true),
  "rfd-370": (exchange, subject) => subject !== "client" && skillUpdates(exchange).length > 0,
  acp: ({ initialize }) => initialize?.response !== undefined,
  "json-rpc": ({ lastOfClient }) => lastOfClient > 0,
  "acp-skills": (exchange) =>
    exchange.negotiation?.optIn !== undefined || advertisedIn(exchange) !== undefined || listsSkills(exchange),
};

/** Whether a verdict says something about skills; without skills in any form, only if ACP or JSON-RPC alone was asked for. */
function hasSkills(
  subject: ConformanceReport["subject"],
  shown: readonly RuleSource[],
  exchanges: readonly Exchange[],
): boolean {
  const sources = shown.filter((source) => source !== "acp" && source !== "json-rpc");
  if (sources.length === 0) return exchanges.length > 0;
  const sendsSkills = (exchange: Exchange): boolean =>
    subject === "client" ? exchange.lastOfClient > 0 : skillUpdates(exchange).length > 0 || listsSkills(exchange);
  return exchanges.some((exchange) =>
    sources.some((source) => (source === "acp-skills" ? sendsSkills(exchange) : isAbout[source](exchange, subject))),
  );
}

function listsSkills(exchange: Exchange): boolean {
  return sentCommands(exchange).some(({ command }) => isMarkedAsSkill(command));
}

function reportOn(
  subject: ConformanceReport["subject"],
  { name, about, entries, faults = [], notes = [], unfinished }: Checked,
  shown: readonly RuleSource[],
) {
  const exchange = readExchange(entries);
  const { negotiation, initialize, requests, notifications } = exchange;
  const optIn: Required<SkillsOptIn> | undefined = negotiation?.optIn;
  const params = fieldsOf(initialize?.params);
  const result = fieldsOf(initialize?.response?.result);
  const methods = new Map<string, number>();
  for (const { from, method } of [...requests, ...notifications])
    if (from === "client") methods.set(method, (methods.get(method) ?? 0) + 1);
  return {
    name,
    about,
    messages: entries.length,
    /** The protocol version of the initialize response. */
    protocol: negotiation?.protocol,
    agent: implementationOf(result?.["agentInfo"] ?? result?.["info"]),
    client: implementationOf(params?.["clientInfo"] ?? params?.["info"]),
    /** The client's declaration about skills; absent if there is none. */
    optIn,
    /** Whether the client declared that it understands `skill` entries. */
    skillEntries: negotiation?.takesSkillEntries === true,
    /** The positions in a prompt at which the agent takes `skill` blocks. */
    skillBlocks: negotiation?.ownBlocks ?? "nowhere",
    /** The agent's `_meta["acp-skills"]`, as it was sent; absent if there is none. */
    advertised: advertisedIn(exchange),
    forms: summariseForms(exchange),
    /** The client's requests and notifications, and how often it sent each. */
    clientMethods: Object.fromEntries(methods),
    findings: checkTranscript(entries).filter(
      ({ appliesTo, source }) =>
        shown.includes(source) && (subject === "both" ? appliesTo !== judgeIn(exchange) : appliesTo === subject),
    ),
    faults,
    notes,
    unfinished,
  };
}

function implementationOf(value: unknown): string | undefined {
  const { name, version } = fieldsOf(value) ?? {};
  if (typeof name !== "string") return undefined;
  return typeof version === "string" ? `${name} ${version}` : name;
}

/** One violation of a rule, at one line. */
export interface ConformanceFinding extends RuleViolation, Pick<ConformanceRule, "severity" | "appliesTo"> {
  readonly rule: string;
  readonly source: RuleSource;
}

/** The maximum number of faults of one rule in a report; one more finding counts the rest. */
const maxOfOneRule = 20;

/** Checks one connection by every rule; findings in the order of lines. Pure; never throws, whatever the entries contain. */
export function checkTranscript(entries: readonly TranscriptEntry[]): readonly ConformanceFinding[] {
  const exchange = readExchange(entries);
  const findings = conformanceRules.flatMap((rule): ConformanceFinding[] => {
    const { id, severity, appliesTo, source } = rule;
    const about = { rule: id, source, severity, appliesTo };
    const faults: ConformanceFinding[] = [];
    let surplus = 0;
    for (const violation of rule.check(exchange)) {
      if (faults.length < maxOfOneRule) faults.push({ ...about, ...violation });
      else surplus++;
    }
    const line = faults.at(-1)?.line;
    if (surplus > 0 && line !== undefined) faults.push({ ...about, line, message: `${surplus} more of these` });
    return faults;
  });
  return findings.sort((a, b) => a.line - b.line);
}
