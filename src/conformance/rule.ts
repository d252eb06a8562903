import type { Exchange } from "./exchange.ts";
import type { Side } from "./transcript.ts";

/**
 * The sources of rules: ACP; JSON-RPC; the RFD “Agent Skills” (`skill` entries and blocks, ACP v2 only); the RFD “Agent Skills List” (pull
 * request 370 of ACP: `available_skills_update`); this project. The rules of one source have a verdict of their own.
 */
export const ruleSources = ["acp", "json-rpc", "agent-skills-rfd", "rfd-370", "acp-skills"] as const;
export type RuleSource = (typeof ruleSources)[number];

/** The origin of a rule: its source, a document, its section, and the sentence there. */
export interface RuleOrigin {
  readonly source: RuleSource;
  readonly document: string;
  readonly section?: string;
  readonly sentence: string;
}

/** One violation of a rule. */
export interface RuleViolation {
  readonly line: number;
  /** The fault as a sentence without its full stop. */
  readonly message: string;
}

/** A rule: a pure function over an exchange. The meaning of an id never changes. */
export interface ConformanceRule extends RuleOrigin {
  readonly id: string;
  /** The rule as a short statement. */
  readonly title: string;
  /** The severity of a violation. Warnings alone leave an agent or client conformant. */
  readonly severity: "error" | "warning";
  readonly appliesTo: Side;
  readonly check: (exchange: Exchange) => Iterable<RuleViolation>;
}

type RuleDefinition = Omit<ConformanceRule, "severity" | "appliesTo"> &
  Partial<Pick<ConformanceRule, "severity" | "appliesTo">>;

/** Defines rules. By default, a rule is an error and applies to agents. */
export function defineRules(rules: readonly RuleDefinition[]): readonly ConformanceRule[] {
  return rules.map((rule) => ({ severity: "error", appliesTo: "agent", ...rule }));
}

/** Checks each item that `itemsOf` finds in an exchange: `faultsOf` returns the faults of an item as sentences without full stop. */
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

/** The sentence of ACP about fields beside those that it defines. */
export const noCustomFields =
  "Implementations MUST NOT add any custom fields at the root of a type that's part of the specification. All possible names are reserved for future protocol versions.";

/** A value as a short phrase for a sentence. */
export function quote(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
