import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { packageUrl } from "../../../base/paths/location.ts";

const ownFile = (name: string): string => fileURLToPath(packageUrl(`runtime/sandbox/${name}`));

/** Files of this package that other processes execute. */
export const ownFiles = {
  inside: ownFile("inside/"),
  showProject: ownFile("processes/show_project.py"),
  onlyWheels: ownFile("requirements/only_wheels.py"),
} as const;

/** An explanation if any of these files is missing, as in a bundle. */
export function missingOwnFiles(files: readonly string[] = Object.values(ownFiles)): string | undefined {
  const missing = files.filter((file) => !existsSync(file));
  if (missing.length === 0) return undefined;
  const names = missing.map((file) => file.replace(/[\\/]$/, "")).join(", ");
  return (
    `Files of the package acp-skills are missing: ${names}. Bundlers do not copy them: mark acp-skills as external, ` +
    `or copy the contents of its dist/runtime/sandbox to ${dirname(ownFiles.inside)}.`
  );
}
