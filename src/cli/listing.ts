import path from "node:path";
import { existsSync, statSync } from "node:fs";
import { upwards } from "../base/paths/location.ts";
import { attempt } from "../base/failures/system-error.ts";
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { Catalog, type RemoteRoot, type Root, sessionRoots, type CatalogReader } from "../skills/skillset.ts";
import { diskSkillFiles } from "../skills/files.ts";
import { directoryFault, givenPolicy } from "./arguments/values.ts";
import { showReads } from "./report/progress.ts";
import { type OptionValues, type ExitCode, exit } from "./command.ts";
import type { roots } from "./arguments/shared-options.ts";
import type { Terminal } from "./report/terminal.ts";
import type { Standings } from "../runtime/runs.ts";
import { isNothing, permissionsOf } from "../skills/permissions.ts";
import { SkillsError } from "../base/errors.ts";
import { type OfferedSkill, noSuchSkill } from "../skills/skill.ts";
import { defaultDataDirectory, organisationPolicy, policyFileName } from "../base/paths/directories.ts";

type ListingOptions = OptionValues<typeof roots> & { readonly cwd?: string };

export interface Listing {
  /** The directory of a session that would have these skills: `--cwd`, absolute. */
  readonly directory: string;
  readonly catalog: Catalog;
  readonly roots: readonly Root[];
  /** `done` if everything that an option names can be read: each directory, and each source or a copy of it. */
  readonly status: ExitCode;
}

/** Reads the roots once, without watching. Reports unreadable directories; the others are still listed. `copies`: further roots. */
export async function createListing(
  options: ListingOptions,
  terminal: Terminal,
  copies: readonly RemoteRoot[] = [],
): Promise<Listing> {
  const cwd = path.resolve(terminal.cwd, options.cwd ?? ".");
  const explicit = (options.skills ?? []).map((directory) => path.resolve(terminal.cwd, directory));
  const faults = [
    ...(options.cwd === undefined ? [] : directoryFault("--cwd", cwd)),
    ...explicit.flatMap((directory) => directoryFault("--skills", directory)),
  ];
  for (const fault of faults) terminal.note(fault);
  const { source: sources, "allow-private": allowPrivate = [] } = options;
  const { fetchSources } = sources === undefined ? {} : await import("./listing/fetch-sources.ts");
  const fetched = await fetchSources?.({ sources: sources ?? [], allowPrivate }, cwd, terminal);
  const { roots: searched } = sessionRoots({
    explicit,
    cwd,
    home: terminal.home,
    useDefaults: options["no-default-roots"] !== true,
    remote: [...(fetched?.roots ?? []), ...copies],
  });
  const log: Log = (_level, message) => terminal.note(message);
  const files = showReads(diskSkillFiles(), terminal.progress);
  const catalog = new Catalog({ roots: searched, files, clock: systemClock, log, slice: Infinity });
  await catalog.ready;
  terminal.progress.done();
  const status = faults.length > 0 ? exit.usage : fetched?.complete === false ? exit.unable : exit.done;
  return { directory: cwd, catalog, roots: searched, status };
}

/** A skill by its name or slug. Throws SKILL_NOT_FOUND with the nearest names. */
export function findOffered(catalog: CatalogReader, name: string): OfferedSkill {
  const offered = catalog.find(name);
  if (offered === undefined) throw new SkillsError("SKILL_NOT_FOUND", noSuchSkill(name, catalog.snapshot));
  return offered;
}

const none: Standings = new Map();

/** Finds the skills that cannot be used in a directory now. Loads the app only if something could forbid a skill. */
export async function findStates(
  skills: readonly OfferedSkill[],
  directory: string,
  terminal: Pick<Terminal, "home" | "log">,
): Promise<Standings> {
  const isWanting = skills.some(
    ({ skill, remote }) => !isNothing(permissionsOf(skill)) || (remote !== undefined && skill.kind === "action"),
  );
  const hasApprovals = existsSync(path.join(defaultDataDirectory(terminal.home), "trust"));
  if (!isWanting && !hasApprovals && !mayHavePolicy(directory)) return none;
  const [{ openApp }, { localOwner }, { readOptions }, { findStandings }] = await Promise.all([
    import("../runtime/app.ts"),
    import("../runtime/caller.ts"),
    import("../runtime/options.ts"),
    import("../runtime/runs.ts"),
  ]);
  const app = openApp(readOptions({ log: terminal.log }, { home: terminal.home }));
  try {
    const { source, hasher } = app;
    const caller = { owner: localOwner, directory };
    const { signal } = new AbortController();
    return await findStandings(skills, { trust: await app.trust(), source, hasher, caller, signal });
  } finally {
    await app.close();
  }
}

/** Whether a policy file exists. The policy may not apply: the directory of the file may belong to no repository, or to another one. */
function mayHavePolicy(directory: string): boolean {
  if (givenPolicy() !== undefined || isThere(organisationPolicy())) return true;
  return upwards(directory).some((above) => isThere(path.join(above, policyFileName)));
}

function isThere(file: string): boolean {
  // An unreadable file counts as existing: the code that decides reports it.
  return attempt(() => statSync(file, { throwIfNoEntry: false }) !== undefined, true);
}
