/** What one connection may make the store keep. Agents are untrusted. */
export interface StoreLimits {
  /** Sessions; the one that was told about longest ago is dropped. */
  readonly sessions: number;
  /** Skills and commands of a session. */
  readonly skills: number;
  /** Characters of one skill. */
  readonly text: number;
  /** Characters of all sessions; the oldest are dropped. */
  readonly allText: number;
  /** Problems that are kept. */
  readonly problems: number;
}

export const defaultStoreLimits: StoreLimits = /* @__PURE__ */ Object.freeze({
  sessions: 100,
  skills: 20_000,
  text: 16_384,
  allText: 64 * 1024 * 1024,
  problems: 200,
});
