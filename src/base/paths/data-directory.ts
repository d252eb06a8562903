import path from "node:path";

/**
 * The default directory of blobs and the ledger: `$ACP_SKILLS_HOME`, else the platform's directory for user data. Always absolute; a
 * relative `$XDG_DATA_HOME` is ignored, as its specification demands.
 */
export function defaultDataDirectory(
  home: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  platform = process.platform,
): string {
  const paths = platform === "win32" ? path.win32 : path.posix;
  const { ACP_SKILLS_HOME: own = "", XDG_DATA_HOME: xdg = "", LOCALAPPDATA: local = "" } = env;
  if (own !== "") return paths.resolve(own);
  if (platform === "win32") {
    return paths.join(local === "" ? paths.join(home, "AppData", "Local") : local, "acp-skills");
  }
  if (platform === "darwin") return paths.join(home, "Library", "Application Support", "acp-skills");
  return paths.join(paths.isAbsolute(xdg) ? xdg : paths.join(home, ".local", "share"), "acp-skills");
}
