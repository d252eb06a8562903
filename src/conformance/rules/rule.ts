import type { Exchange } from "../exchange.ts";
import type { Side } from "../transcript/entry.ts";

/** Where a rule comes from: a document, and its sentence. */
interface Source {
  readonly document: string;
  readonly sentence: string;
}

/** One place where a rule is broken. */
export interface Fault {
  readonly line: number;
  /** A sentence without its full stop: what is wrong there. */
  readonly message: string;
}

/** A rule is a pure function over an exchange. Its id never changes its meaning. */
export interface Rule {
  readonly id: string;
  /** What holds, as a short statement. */
  readonly title: string;
  /** Warnings alone leave an agent or client conformant. */
  readonly severity: "error" | "warning";
  readonly appliesTo: Side;
  readonly source: Source;
  readonly check: (exchange: Exchange) => Iterable<Fault>;
}

export function defineRules(rules: readonly Rule[]): readonly Rule[] {
  return rules;
}

/** The documents that sentences come from. */
export const documents = {
  rfd: "RFD Agent Skills List",
  extensibility: "ACP, Extensibility",
  extensibilityV2: "ACP v2, Extensibility",
  transports: "ACP, Transports",
  slashCommands: "ACP, Slash Commands",
  promptTurn: "ACP, Prompt Turn",
  sessionSetup: "ACP, Session Setup",
  schemaV2: "ACP v2, Schema",
  jsonRpc: "JSON-RPC 2.0",
} as const;

/** A value as part of a sentence: short, whatever it is. */
export function quote(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
