import type { Settings } from "./options.ts";

/** The part of the settings that is data, and can cross to another thread. */
export type SettingsData = Omit<Settings, "log" | "clock">;

export function toSettingsData(settings: Settings): SettingsData {
  const entries = Object.entries(settings).filter(([name]) => name !== "log" && name !== "clock");
  return Object.fromEntries(entries) as unknown as SettingsData;
}
