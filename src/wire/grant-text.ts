import { isAbsolute, resolve } from "node:path";
import { realpathSync } from "node:fs";
import { attempt } from "../base/failures/system-error.ts";

/** The kinds of capabilities that `--grant` accepts. */
export const permissionNames = ["network", "secrets", "secret-uses", "project-read", "project-write"] as const;

export type PermissionName = (typeof permissionNames)[number];

/** A grant of the configuration, for machines without a user who could be asked. */
export type ConfiguredGrant =
  /** A grant for these bytes, wherever they are. `kinds` undefined: all that the skill declares. */
  | {
      readonly form: "digest";
      readonly skill: string;
      readonly digest: string;
      readonly kinds?: readonly PermissionName[];
    }
  /** A grant for one of the user's own skills, in the version that is seen first. */
  | { readonly form: "name"; readonly skill: string; readonly kinds?: readonly PermissionName[] }
  /** A grant for the skill in a directory, in the version that is seen first; or for a project, whose skills models may read. */
  | { readonly form: "path"; readonly path: string };

const skillName = "[a-z0-9]+(?:[.-][a-z0-9]+)*";

const named = new RegExp(`^(${skillName})(?:@(?:sha256:)?([0-9a-f]{64}))?(?::([a-z-]+(?:,[a-z-]+)*))?$`);

/**
 * Parses `NAME` or `NAME@DIGEST`, each with or without `:PERMISSION,…`, or an absolute path; undefined for anything else. A digest has 64
 * hexadecimal digits, because another version could be made to match a shorter one.
 */
export function parseGrant(text: string): ConfiguredGrant | undefined {
  if (isAbsolute(text)) return { form: "path", path: text };
  const [, skill, digest, list] = named.exec(text) ?? [];
  const words = list?.split(",");
  const kinds = words?.flatMap((word) => permissionNames.find((name) => name === word) ?? []);
  if (skill === undefined || kinds?.length !== words?.length) return undefined;
  if (digest !== undefined) return { form: "digest", skill, digest: `sha256:${digest}`, ...(kinds && { kinds }) };
  return { form: "name", skill, ...(kinds && { kinds }) };
}

/** Returns a grant unchanged, unless it is a path: then the absolute real path. */
export function grantText(text: string): string {
  const isPath = /^[./~\\]|[/\\]/.test(text) && !/^[a-z0-9.-]+[@:]/.test(text);
  if (!isPath && !isAbsolute(text)) return text;
  // A path that does not exist grants nothing.
  return attempt(() => realpathSync(text), resolve(text));
}
