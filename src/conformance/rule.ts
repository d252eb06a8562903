import type { Exchange } from "./exchange.ts";
import type { Side } from "./transcript.ts";

/**
 * Who asks for what a rule says: ACP; JSON-RPC; the RFD “Agent Skills” (`skill` entries and blocks, ACP v2 only); the RFD “Agent Skills
 * List” (pull request 370 of ACP: `available_skills_update`); this project. The rules of one source have a verdict of their own.
 */
export const ruleSources = ["acp", "json-rpc", "agent-skills-rfd", "rfd-370", "acp-skills"] as const;
export type RuleSource = (typeof ruleSources)[number];

/** Where a rule comes from: whose it is, a document, its section, and the sentence there. */
export interface RuleOrigin {
  readonly source: RuleSource;
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
export interface ConformanceRule extends RuleOrigin {
  readonly id: string;
  /** What holds, as a short statement. */
  readonly title: string;
  /** Warnings alone leave an agent or client conformant. */
  readonly severity: "error" | "warning";
  readonly appliesTo: Side;
  readonly check: (exchange: Exchange) => Iterable<RuleViolation>;
}

type RuleDefinition = Omit<ConformanceRule, "severity" | "appliesTo"> &
  Partial<Pick<ConformanceRule, "severity" | "appliesTo">>;

/** Rules; one that says nothing else is an error, of agents. */
export function defineRules(rules: readonly RuleDefinition[]): readonly ConformanceRule[] {
  return rules.map((rule) => ({ severity: "error", appliesTo: "agent", ...rule }));
}

/** Checks what `itemsOf` finds in an exchange, one by one: `faultsOf` says in sentences without full stop what is wrong with one. */
export function each<Item extends { readonly line: number }>(
  itemsOf: (exchange: Exchange) => readonly Item[],
  faultsOf: (item: Item, exchange: Exchange) => Iterable<string>,
): ConformanceRule["check"] {
  return function* (exchange) {
    for (const item of itemsOf(exchange))
      for (const message of faultsOf(item, exchange)) yield { line: item.line, message };
  };
}

type ToOrigin = (sentence: string, section?: string) => RuleOrigin;

function documentOf(source: RuleSource, document: string, usual?: string): ToOrigin {
  return (sentence, section = usual) => ({ source, document, ...(section !== undefined && { section }), sentence });
}

/** The documents that sentences come from. */
export const documents = {
  skillsRfd: documentOf("agent-skills-rfd", "RFD Agent Skills"),
  rfdTable: documentOf("rfd-370", "RFD Agent Skills List", "AvailableSkill Schema"),
  rfdPlan: documentOf("rfd-370", "RFD Agent Skills List", "Phase 1: Schema Updates"),
  extensibility: documentOf("acp", "ACP, Extensibility"),
  extensibilityV2: documentOf("acp", "ACP v2, Extensibility"),
  transports: documentOf("acp", "ACP, Transports"),
  slashCommands: documentOf("acp", "ACP, Slash Commands"),
  schema: documentOf("acp", "ACP, Schema"),
  schemaV2: documentOf("acp", "ACP v2, Schema"),
  jsonRpc: documentOf("json-rpc", "JSON-RPC 2.0"),
  own: documentOf("acp-skills", "schema/conformance/README.md", "What acp-skills asks for"),
};

/** What ACP says of fields beside those that it defines. */
export const noCustomFields =
  "Implementations MUST NOT add any custom fields at the root of a type that's part of the specification. All possible names are reserved for future protocol versions.";

/** A value as part of a sentence: short, whatever it is. */
export function quote(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
