import type { Block, Grant } from "../../../../src/runtime/trust/grants.ts";
import type { Approvals } from "../../../../src/runtime/trust/approvals/scope-approvals.ts";

/** A digest that differs by number. */
export function digestOf(number: number): string {
  return `sha256:${number.toString(16).padStart(64, "0")}`;
}

/** A grant that differs by number: its id, its skill and its digest. */
export function grantOf(number: number, changes: Partial<Grant> = {}): Grant {
  return {
    id: `grant_${number.toString(16).padStart(16, "0")}`,
    skill: `acme.skill${number}`,
    version: "1.0.0",
    digest: digestOf(number),
    capabilities: { network: ["https://api.example.org"], secrets: ["API_KEY"], project: "read" },
    who: "ada",
    when: "2026-01-02T03:04:05.678Z",
    via: "editor",
    ...changes,
  };
}

export function blockOf(number: number, changes: Partial<Block> = {}): Block {
  return {
    skill: `acme.skill${number}`,
    from: "own",
    who: "ada",
    when: "2026-01-02T03:04:05.678Z",
    via: "editor",
    ...changes,
  };
}

/** A change that adds grants. */
export function adding(...grants: readonly Grant[]): (before: Approvals) => Approvals {
  return (before) => ({ ...before, grants: [...before.grants, ...grants] });
}

/** A change that removes grants by their numbers. */
export function removing(...numbers: readonly number[]): (before: Approvals) => Approvals {
  const ids = new Set(numbers.map((number) => grantOf(number).id));
  return (before) => ({ ...before, grants: before.grants.filter(({ id }) => !ids.has(id)) });
}
