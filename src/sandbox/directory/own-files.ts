import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { urlOf } from "../../base/url-of.ts";

const place = (name: string): string => fileURLToPath(new URL(name, urlOf(import.meta)));

/** What of this package runs elsewhere than in this process, as files: the inside of sandboxes, and small programs. */
export const ownFiles = {
  inside: place("../inside/"),
  showProject: place("../processes/show_project.py"),
  onlyWheels: place("../requirements/only_wheels.py"),
} as const;

/** Why nothing can be run without them; undefined where they are. A bundler takes the code, and leaves them behind. */
export function missingOwnFiles(files: readonly string[] = Object.values(ownFiles)): string | undefined {
  const missing = files.filter((file) => !existsSync(file));
  if (missing.length === 0) return undefined;
  const names = missing.map((file) => file.replace(/[\\/]$/, "")).join(", ");
  return (
    `Files of the package acp-skills are missing: ${names}. A bundler leaves them behind: keep acp-skills out of the ` +
    `bundle (external), or copy dist/sandbox of the package to ${dirname(ownFiles.inside)}.`
  );
}
