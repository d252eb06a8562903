import { fieldsOf } from "../../client/json.ts";
import { checkTranscript, type Finding } from "../check-transcript.ts";
import { advertisedIn, readExchange } from "../exchange.ts";
import type { Entry, Side } from "../transcript/entry.ts";
import { type SentForm, summariseForms } from "./summarise-forms.ts";

/** What is reported of one connection. */
export interface ConnectionReport {
  readonly name: string;
  readonly about?: string;
  readonly messages: number;
  /** The protocol version of the initialize response. */
  readonly protocol?: number;
  readonly agent?: string;
  readonly client?: string;
  /** What the client declared about skills; absent if nothing. */
  readonly optIn?: { readonly notification: boolean; readonly deltas: boolean; readonly commands: boolean };
  /** The agent's `_meta["acp-skills"]`, as it was sent; absent if there is none. */
  readonly advertised?: unknown;
  readonly forms: readonly SentForm[];
  /** The client's requests and notifications, and how often it sent each. */
  readonly clientMethods: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
  /** What could not be done. */
  readonly faults: readonly string[];
  readonly notes: readonly string[];
}

export interface Report {
  /** Whose rules were checked. */
  readonly subject: Side | "both";
  readonly conformant: boolean;
  readonly errors: number;
  readonly warnings: number;
  readonly connections: readonly ConnectionReport[];
}

interface Checked {
  readonly name: string;
  readonly about?: string;
  readonly entries: readonly Entry[];
  readonly faults?: readonly string[];
  readonly notes?: readonly string[];
}

/** Checks every connection. Pure. */
export function makeReport(subject: Report["subject"], connections: readonly Checked[]): Report {
  const reports = connections.map((connection) => reportOn(subject, connection));
  const findings = reports.flatMap((report) => report.findings);
  const faults = reports.flatMap((report) => report.faults);
  const count = (wanted: Finding["severity"]): number => findings.filter(({ severity }) => severity === wanted).length;
  const errors = count("error") + faults.length;
  return { subject, conformant: errors === 0, errors, warnings: count("warning"), connections: reports };
}

function reportOn(
  subject: Report["subject"],
  { name, about, entries, faults = [], notes = [] }: Checked,
): ConnectionReport {
  const exchange = readExchange(entries);
  const { negotiation, initialize, requests, notifications } = exchange;
  const params = fieldsOf(initialize?.params);
  const result = fieldsOf(initialize?.response?.result);
  const agent = implementationOf(result?.["agentInfo"] ?? result?.["info"]);
  const client = implementationOf(params?.["clientInfo"] ?? params?.["info"]);
  const advertised = advertisedIn(exchange);
  const methods = new Map<string, number>();
  for (const { from, method } of [...requests, ...notifications])
    if (from === "client") methods.set(method, (methods.get(method) ?? 0) + 1);
  return {
    name,
    ...(about !== undefined && { about }),
    messages: entries.length,
    ...(negotiation && { protocol: negotiation.protocol }),
    ...(agent !== undefined && { agent }),
    ...(client !== undefined && { client }),
    ...(negotiation?.optIn && { optIn: negotiation.optIn }),
    ...(advertised !== undefined && { advertised }),
    forms: summariseForms(exchange),
    clientMethods: Object.fromEntries(methods),
    findings: checkTranscript(entries).filter(({ appliesTo }) => subject === "both" || appliesTo === subject),
    faults,
    notes,
  };
}

function implementationOf(value: unknown): string | undefined {
  const { name, version } = fieldsOf(value) ?? {};
  if (typeof name !== "string") return undefined;
  return typeof version === "string" ? `${name} ${version}` : name;
}
