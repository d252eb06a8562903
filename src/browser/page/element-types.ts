import type { SkillFacts } from "../../client/select.ts";

/** What the browser needs of a store; `createSkillsStore()` of `acp-skills/client` makes one. */
export interface ReadableStore {
  readonly skills: readonly ReadableSkill[];
  /** For each connection, whether skills were requested, if that is known; see `optIn()`. */
  readonly capabilities?: readonly { readonly agent: string; readonly optedIn?: boolean | undefined }[] | undefined;
  /** Calls the listener after each change; returns how to stop that. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A skill as an agent announced it. */
export interface ReadableSkill extends SkillFacts {
  readonly agent?: string | undefined;
  readonly digest?: string | undefined;
  /** What invokes it in a prompt, after a slash. */
  readonly command?: string | undefined;
}

/** The detail of the events `acp-skill-open`, when a skill was opened, and `acp-skill-invoke`, when a person wants to use it. */
export interface SkillEventDetail {
  /** The slug. */
  readonly name: string;
  /** The agent that announced it; absent for a skill of a server. */
  readonly agent?: string | undefined;
  /** What invokes it in a prompt, after a slash; absent where it is not known. */
  readonly command?: string | undefined;
}

/**
 * `<acp-skill-browser>`: the skill browser as an element of any page. It shows the skills of a `server` (an address of `acp-skills browse` on the
 * page's own origin; an empty one is the origin itself), or of a `store`, which `createSkillsStore()` of `acp-skills/client` makes; a store
 * comes first. It starts when it is connected, and ends all that it started when it is disconnected. It has the `color-scheme` of its place,
 * unless the attribute `theme` says another one. With the attribute `invokable`, a skill has a button that sends `acp-skill-invoke`.
 */
export interface SkillBrowserElement extends HTMLElement {
  /** The attribute of that name. */
  server: string | null;
  store: ReadableStore | undefined;
  /** `system` is that of the machine; null that of the element's place. */
  theme: "light" | "dark" | "system" | null;
}

declare global {
  interface HTMLElementEventMap {
    "acp-skill-open": CustomEvent<SkillEventDetail>;
    "acp-skill-invoke": CustomEvent<SkillEventDetail>;
  }

  interface HTMLElementTagNameMap {
    "acp-skill-browser": SkillBrowserElement;
  }
}
