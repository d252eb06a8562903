import { skillPathFault } from "../../skills/hash/walk-skill.ts";

/** Files that make editors and CI systems run commands, besides dot-files. */
const settings =
  /^(?:jenkinsfile|(?:azure|bitbucket)-pipelines\.ya?ml|appveyor\.ya?ml|.*\.(?:code-workspace|sublime-(?:project|workspace)|iml|ipr|iws))$/i;
/** Some file systems ignore these characters in names, so that `.git` has many spellings. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const unfitForWindows = /[<>:"|?*]|[. ]$/;

/**
 * Why a path cannot name a file of a project, as the end of a sentence that starts with "The path"; undefined if it can (CONTRACT C-4.2).
 * Pure: links are not followed.
 */
export function projectPathFault(
  path: string,
  use: "read" | "written",
  platform = process.platform,
): string | undefined {
  const fault = skillPathFault(path, "the project's directory");
  if (fault !== undefined) return fault;
  const segments = path.split("/");
  const hidden = segments.find((segment) => segment.startsWith("."));
  if (hidden !== undefined)
    return `contains ${hidden}; files and directories whose names start with a dot cannot be ${use}`;
  if (segments.some((segment) => unseen.test(segment))) return "contains invisible characters";
  if (platform === "win32" && segments.some((segment) => unfitForWindows.test(segment)))
    return "is not a valid path on Windows";
  const name = segments.at(-1) ?? "";
  if (use === "written" && settings.test(name)) {
    return `names ${name}; configuration of editors and CI systems cannot be written`;
  }
  return undefined;
}
