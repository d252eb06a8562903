/** How much the store holds of one connection. Agents are untrusted. */
export interface StoreLimits {
  /** Sessions; the least recently updated is dropped. */
  readonly sessions: number;
  /** Skills and commands of a session. */
  readonly skills: number;
  /** Characters of one skill. */
  readonly text: number;
  /** Characters of all sessions; the oldest are dropped. */
  readonly allText: number;
  /** Problems that are stored. */
  readonly problems: number;
}

export const defaultStoreLimits: StoreLimits = /* @__PURE__ */ Object.freeze({
  sessions: 100,
  skills: 20_000,
  text: 16_384,
  allText: 64 * 1024 * 1024,
  problems: 200,
});
