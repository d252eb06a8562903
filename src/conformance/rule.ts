import type { Exchange } from "./exchange.ts";
import type { Side } from "./transcript.ts";

/** Who asks for what a rule says. The rules of one origin are a profile: a verdict of its own. */
export const origins = ["rfd", "acp", "json-rpc", "acp-skills"] as const;
export type RuleOrigin = (typeof origins)[number];

/** Where a rule comes from: a document, its section, and the sentence there. */
interface Source {
  readonly origin: RuleOrigin;
  readonly document: string;
  readonly section?: string;
  readonly sentence: string;
}

/** One place where a rule is broken. */
export interface RuleViolation {
  readonly line: number;
  /** A sentence without its full stop: what is wrong there. */
  readonly message: string;
}

/** A rule is a pure function over an exchange. Its id never changes its meaning. */
export interface ConformanceRule {
  readonly id: string;
  /** What holds, as a short statement. */
  readonly title: string;
  /** Warnings alone leave an agent or client conformant. */
  readonly severity: "error" | "warning";
  readonly appliesTo: Side;
  readonly source: Source;
  readonly check: (exchange: Exchange) => Iterable<RuleViolation>;
}

export function defineRules(rules: readonly ConformanceRule[]): readonly ConformanceRule[] {
  return rules;
}

const acp = "acp";

/** The documents that sentences come from. */
export const documents = {
  rfdTable: { origin: "rfd", document: "RFD Agent Skills List", section: "AvailableSkill Schema" },
  rfdPlan: { origin: "rfd", document: "RFD Agent Skills List", section: "Phase 1: Schema Updates" },
  extensibility: { origin: acp, document: "ACP, Extensibility" },
  extensibilityV2: { origin: acp, document: "ACP v2, Extensibility" },
  transports: { origin: acp, document: "ACP, Transports" },
  slashCommands: { origin: acp, document: "ACP, Slash Commands" },
  schema: { origin: acp, document: "ACP, Schema" },
  schemaV2: { origin: acp, document: "ACP v2, Schema" },
  jsonRpc: { origin: "json-rpc", document: "JSON-RPC 2.0" },
  own: { origin: "acp-skills", document: "schema/conformance/README.md", section: "What acp-skills asks for" },
} as const satisfies Readonly<Record<string, Omit<Source, "sentence">>>;

/** A value as part of a sentence: short, whatever it is. */
export function quote(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
