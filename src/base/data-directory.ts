import path from "node:path";

export interface DataPlaces {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  readonly home: string;
}

/**
 * Where blobs and the ledger are kept unless an option says otherwise: `$ACP_SKILLS_HOME`, else where the platform wants a
 * user's data. Always absolute; a relative `$XDG_DATA_HOME` does not count, as its specification has it.
 */
export function defaultDataDirectory({ platform, env, home }: DataPlaces): string {
  const paths = platform === "win32" ? path.win32 : path.posix;
  const { ACP_SKILLS_HOME: own = "", XDG_DATA_HOME: xdg = "", LOCALAPPDATA: local = "" } = env;
  if (own !== "") return paths.resolve(own);
  if (platform === "win32") {
    return paths.join(local === "" ? paths.join(home, "AppData", "Local") : local, "acp-skills");
  }
  if (platform === "darwin") return paths.join(home, "Library", "Application Support", "acp-skills");
  return paths.join(paths.isAbsolute(xdg) ? xdg : paths.join(home, ".local", "share"), "acp-skills");
}
