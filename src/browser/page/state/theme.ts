import { effect, signal, type Signal } from "@preact/signals";

/** `system` follows the machine. */
export type ThemeChoice = "system" | "light" | "dark";

export const themes: readonly ThemeChoice[] = ["system", "light", "dark"];

const key = "acp-skills-theme";

/** The theme that a person chose in this browser; `storage` remembers it if it can. */
export function createTheme(storage: () => Storage): Signal<ThemeChoice | null> {
  const theme = signal<ThemeChoice | null>(readTheme(storage));
  effect(() => {
    try {
      if (theme.value === "system" || theme.value === null) storage().removeItem(key);
      else storage().setItem(key, theme.value);
    } catch {
      // Some browsers refuse storage; the choice then lasts as long as the page.
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
