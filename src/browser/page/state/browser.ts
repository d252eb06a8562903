import type { Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { BrowserSkillSource } from "../source/skill-source.ts";
import type { PageNavigation } from "./places.ts";
import type { SkillListState } from "./shown-skills.ts";
import type { ThemeChoice } from "./theme.ts";

/** What every part of one mounted browser may use. */
export interface Browser {
  readonly source: BrowserSkillSource;
  readonly places: PageNavigation;
  readonly shown: SkillListState;
  readonly theme: Signal<ThemeChoice>;
  /** What a screen reader is told next. */
  readonly announcement: Signal<string>;
  /** Whether the page is the browser's own, so that keys work wherever the focus is. */
  readonly isPage: boolean;
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
