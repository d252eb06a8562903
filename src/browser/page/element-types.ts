import type { SkillFacts } from "../../client/select.ts";

/** The store that the browser can read; `createSkillsStore()` of `acp-skills/client` makes one. */
export interface ReadableStore {
  readonly skills: readonly ReadableSkill[];
  /** The connections, each with whether it requested skills, if that is known; see `optIn()`. */
  readonly capabilities?: readonly { readonly agent: string; readonly optedIn?: boolean | undefined }[] | undefined;
  /** Calls the listener after each change. Returns a function that stops the calls. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A skill as an agent announced it. */
export interface ReadableSkill extends SkillFacts {
  readonly agent?: string | undefined;
  readonly digest?: string | undefined;
  /** The name that invokes the skill in a prompt, after a slash. */
  readonly command?: string | undefined;
}

/** The detail of the events `acp-skill-open`, when a skill was opened, and `acp-skill-invoke`, when the user wants to use one. */
export interface SkillEventDetail {
  /** The slug of the skill. */
  readonly name: string;
  /** The agent that announced the skill; absent for a skill of a server. */
  readonly agent?: string | undefined;
  /** The name that invokes the skill in a prompt, after a slash; absent if it is not known. */
  readonly command?: string | undefined;
}

/**
 * `<acp-skill-browser>`: the skill browser as an element of any page. It shows the skills of its `store`, made by `createSkillsStore()` of
 * `acp-skills/client`. Without a store, it shows those of its `server`: the URL of `acp-skills browse` on the page's own origin; an empty
 * text stands for that origin. It starts when it is connected, and stops everything when it is disconnected. It inherits `color-scheme`
 * unless the attribute `theme` is set. With the attribute `invokable`, each skill has a button that sends `acp-skill-invoke`.
 */
export interface SkillBrowserElement extends HTMLElement {
  /** The value of the attribute `server`. */
  server: string | null;
  store: ReadableStore | undefined;
  /** `system` is the theme of the machine; null is the inherited `color-scheme`. */
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
