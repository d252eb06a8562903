import { skillPathFault } from "../../skills/hash/skill-path.ts";

/** Settings that make editors and CI systems run commands, beside those whose names start with a dot. */
const settings =
  /^(?:jenkinsfile|(?:azure|bitbucket)-pipelines\.ya?ml|appveyor\.ya?ml|.*\.(?:code-workspace|sublime-(?:project|workspace)|iml|ipr|iws))$/i;
/** Some file systems leave them out when they compare names, so that `.git` could be spelt in many ways. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const unfitForWindows = /[<>:"|?*]|[. ]$/;

/**
 * Why a path cannot name a file of a project, as the end of a sentence that starts with "The path"; undefined where it can (CONTRACT
 * C-4.2). Pure: where links lead is for the disk to say.
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
  if (hidden !== undefined) return `names ${hidden}; what starts with a dot is not ${use}`;
  if (segments.some((segment) => unseen.test(segment))) return "contains characters that cannot be seen";
  if (platform === "win32" && segments.some((segment) => unfitForWindows.test(segment))) return "is no name on Windows";
  const name = segments.at(-1) ?? "";
  if (use === "written" && settings.test(name)) {
    return `names ${name}; what configures an editor or a CI system is not written`;
  }
  return undefined;
}
