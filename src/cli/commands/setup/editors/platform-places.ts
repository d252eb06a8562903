import path from "node:path";
import type { SetupEnvironment } from "../editor.ts";

type Places = Pick<SetupEnvironment, "home" | "env">;

/** A program's directory below `$XDG_CONFIG_HOME`, which has to be absolute, or `~/.config`. */
export function configDirectory({ home, env }: Places, program: string): string {
  const { XDG_CONFIG_HOME: given = "" } = env;
  return path.join(path.isAbsolute(given) ? given : path.join(home, ".config"), program);
}

/** A program's directory below `$XDG_DATA_HOME`, likewise, or `~/.local/share`. */
export function xdgDataDirectory({ home, env }: Places, program: string): string {
  const { XDG_DATA_HOME: given = "" } = env;
  return path.join(path.isAbsolute(given) ? given : path.join(home, ".local", "share"), program);
}

/** A program's directory below `%APPDATA%`. */
export function roamingDirectory({ home, env }: Places, program: string): string {
  return path.join(env["APPDATA"] || path.join(home, "AppData", "Roaming"), program);
}

/** A program's directory below `%LOCALAPPDATA%`. */
export function localDirectory({ home, env }: Places, program: string): string {
  return path.join(env["LOCALAPPDATA"] || path.join(home, "AppData", "Local"), program);
}
