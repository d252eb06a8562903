import type { SkillRow } from "../../wire/skills.ts";
import type { Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { SkillEventDetail } from "../element-types.ts";
import type { BrowserSkillSource } from "../source/skill-source.ts";
import type { PageNavigation } from "./places.ts";
import type { SkillListState } from "./shown-skills.ts";
import type { ThemeChoice } from "./theme.ts";

/** What every part of one mounted browser may use. */
export interface Browser {
  readonly source: BrowserSkillSource;
  readonly places: PageNavigation;
  readonly shown: SkillListState;
  /** Null: the theme of the page around the element. */
  readonly theme: Signal<ThemeChoice | null>;
  /** The next announcement to screen readers. */
  readonly announcement: Signal<string>;
  /** Whether the page is the browser's own, so that keys work wherever the focus is. */
  readonly isPage: boolean;
  /** Whether the page around it does something when a person wants to use a skill. */
  readonly isInvokable: boolean;
  /** Sends an event to the page around it. */
  readonly notify: (type: "acp-skill-open" | "acp-skill-invoke", detail: SkillEventDetail) => void;
}

const BrowserContext = createContext<Browser | undefined>(undefined);

export const BrowserProvider = BrowserContext.Provider;

export function useBrowser(): Browser {
  const browser = useContext(BrowserContext);
  if (browser === undefined) throw new Error("A part of the skill browser was rendered outside it.");
  return browser;
}

/** Whether things can be decided, run, installed: there is a server, and it is not read-only. */
export function canAct({ server }: BrowserSkillSource): boolean {
  return server?.about.value?.readOnly === false;
}

/** The detail of an event about a skill. */
export function toEventDetail({ name, agent, command }: SkillRow): SkillEventDetail {
  return { name, ...(agent !== undefined && { agent }), ...(command !== undefined && { command }) };
}
