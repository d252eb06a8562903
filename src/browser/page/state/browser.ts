import { type Signal, effect, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { SkillRow } from "../../wire/skills.ts";
import type { SkillEventDetail } from "../element-types.ts";
import type { SkillServer } from "../source/http-source.ts";
import type { BrowserSkillSource } from "../source/skill-source.ts";
import type { PageNavigation } from "./location.ts";
import type { SkillListState } from "./shown-skills.ts";

/** The context of one mounted browser, for all of its components. */
export interface Browser {
  readonly source: BrowserSkillSource;
  readonly navigation: PageNavigation;
  readonly shown: SkillListState;
  /** Null: the theme of the surrounding page. */
  readonly theme: Signal<ThemeChoice | null>;
  /** The next announcement to screen readers. */
  readonly announcement: Signal<string>;
  /** Whether the page is the browser's own, so that shortcuts work for any focus. */
  readonly isPage: boolean;
  /** Whether the surrounding page handles `acp-skill-invoke`, so that skills have a button for it. */
  readonly isInvokable: boolean;
  /** Sends an event to the surrounding page. */
  readonly notify: (type: "acp-skill-open" | "acp-skill-invoke", detail: SkillEventDetail) => void;
}

const BrowserContext = createContext<Browser | undefined>(undefined);

export const BrowserProvider = BrowserContext.Provider;

export function useBrowser(): Browser {
  const browser = useContext(BrowserContext);
  if (browser === undefined) throw new Error("A part of the skill browser was rendered outside it.");
  return browser;
}

/** The server, for components that are shown only with one. Throws without a server. */
export function useServer(): SkillServer {
  const { server } = useBrowser().source;
  if (server === undefined) throw new Error("A part that needs a server was rendered without one.");
  return server;
}

/** Whether the user can decide, run and install: there is a server, and it is not read-only. */
export function canAct({ server }: BrowserSkillSource): boolean {
  return server?.about.value?.readOnly === false;
}

/** The detail of an event about a skill. */
export function toEventDetail({ name, agent, command }: SkillRow): SkillEventDetail {
  return { name, ...(agent !== undefined && { agent }), ...(command !== undefined && { command }) };
}

/** `system` follows the machine. */
export type ThemeChoice = "system" | "light" | "dark";

export const themes: readonly ThemeChoice[] = ["system", "light", "dark"];

const key = "acp-skills-theme";

/** The theme that the user chose in this browser, stored in `storage` if that is possible. */
export function createTheme(storage: () => Storage): Signal<ThemeChoice | null> {
  const theme = signal<ThemeChoice | null>(readTheme(storage));
  effect(() => {
    try {
      if (theme.value === "system" || theme.value === null) storage().removeItem(key);
      else storage().setItem(key, theme.value);
    } catch {
      // Some browsers refuse storage; the choice is then lost with the page.
    }
  });
  return theme;
}

function readTheme(storage: () => Storage): ThemeChoice {
  try {
    const stored = storage().getItem(key);
    return themes.find((theme) => theme === stored) ?? "system";
  } catch {
    return "system";
  }
}
