import { lstatSync } from "node:fs";
import path from "node:path";
import { isRepository } from "./project-of.ts";
import { organisationPolicy, policyFileName } from "../../wire/policy-file.ts";

/** Where a policy file may be. */
export interface PolicyFileLocation {
  readonly file: string;
  readonly origin: "organisation" | "configuration" | "project";
}

/**
 * All places of the policies that count in a directory; without one, of those that count everywhere. `given`: the file of the
 * configuration.
 */
export function policyFileLocations(
  directory: string | undefined,
  {
    given,
    organisation = organisationPolicy(),
  }: { readonly given: string | undefined; readonly organisation?: string },
): readonly PolicyFileLocation[] {
  return [
    { file: organisation, origin: "organisation" },
    ...(given === undefined ? [] : [{ file: given, origin: "configuration" as const }]),
    ...(directory === undefined ? [] : placesIn(directory)),
  ];
}

/** A project's files: in the directory of the session, and at the root of the repository that contains it. */
function placesIn(directory: string): readonly PolicyFileLocation[] {
  const root = repositoryRoot(directory);
  return [...(root === undefined || root === directory ? [] : [root]), directory].map((place) => ({
    file: path.join(place, policyFileName),
    origin: "project",
  }));
}

/** The nearest directory with a repository of git that another user cannot have put there. */
function repositoryRoot(directory: string): string | undefined {
  const user = process.getuid?.();
  for (let place = directory; ; place = path.dirname(place)) {
    const git = path.join(place, ".git");
    const owner = ownerOf(git);
    const isOurs = owner !== undefined && (user === undefined || [0, user, ownerOf(directory)].includes(owner));
    if (isOurs && isRepository(git)) return place;
    if (place === path.dirname(place)) return undefined;
  }
}

function ownerOf(file: string): number | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.uid;
  } catch {
    return undefined; // In a directory that cannot be searched.
  }
}
