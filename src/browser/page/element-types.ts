import type { SkillFacts } from "../../client/select.ts";

/** What the browser needs of a store; `createSkillsStore()` of `acp-skills/client` makes one. */
export interface ReadableStore {
  readonly skills: readonly ToldSkill[];
  /** Calls the listener after each change; returns how to stop that. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A skill as an agent told it. */
export interface ToldSkill extends SkillFacts {
  readonly agent?: string | undefined;
  readonly digest?: string | undefined;
}

/**
 * `<acp-skill-browser>`: the skill browser as an element of any page. It shows the skills of a `server` (an address of `acp-skills browse` on the
 * page's own origin; an empty one is the origin itself), or of a `store`, which `createSkillsStore()` of `acp-skills/client` makes; a store
 * comes first. It starts when it is connected, and ends all that it started when it is disconnected.
 */
export interface SkillBrowserElement extends HTMLElement {
  /** The attribute of that name. */
  server: string | null;
  store: ReadableStore | undefined;
}

declare global {
  interface HTMLElementTagNameMap {
    "acp-skill-browser": SkillBrowserElement;
  }
}
