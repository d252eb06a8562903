/** What the selectors read of a skill; whatever shows skills has these facts, the store's skills among them. */
export interface SkillFacts {
  /** The slug. */
  readonly name: string;
  readonly description: string;
  readonly canonicalName?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: "instruction" | "action" | undefined;
  readonly namespace?: string | undefined;
  readonly source?: string | undefined;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  /** Whether the agent's machine has what the skill requires. */
  readonly environment?:
    { readonly status: "met" | "missing" | "unknown"; readonly missing?: readonly string[] | undefined } | undefined;
  readonly allowedTools?: readonly string[] | undefined;
  /** Why it cannot be used now; absent if it can. */
  readonly state?: string | undefined;
}
