import path from "node:path";
import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type Catalog, type RemoteRoot, type Root, openCatalog, sessionRoots } from "../../skills/skillset.ts";
import { diskSkillFiles } from "../../skills/files.ts";
import { directoryFault } from "../arguments/values.ts";
import { showReads } from "../report/progress.ts";
import type { OptionValues } from "../command.ts";
import type { FetchedSources } from "./fetch-sources.ts";
import type { roots } from "../arguments/shared-options.ts";
import type { Terminal } from "../report/terminal.ts";

type ListingOptions = OptionValues<typeof roots> & { readonly cwd?: string };

export interface Listing {
  readonly catalog: Catalog;
  readonly roots: readonly Root[];
  /** Whether everything that an option names can be read: each directory, and each source or a copy of it. */
  readonly complete: boolean;
}

async function fetchLazily(
  given: { readonly sources: readonly string[]; readonly allowPrivate: readonly string[] },
  terminal: Terminal,
): Promise<FetchedSources> {
  const { fetchSources } = await import("./fetch-sources.ts");
  return await fetchSources(given, terminal);
}

/** Reads the roots once, without watching. Reports directories that cannot be read; the others are still listed. `copies`: further roots. */
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
  const fetched = sources === undefined ? undefined : await fetchLazily({ sources, allowPrivate }, terminal);
  const { roots: searched } = sessionRoots({
    explicit,
    cwd,
    home: terminal.home,
    useDefaults: options["no-default-roots"] !== true,
    remote: [...(fetched?.roots ?? []), ...copies],
  });
  const log: Log = (_level, message) => terminal.note(message);
  const files = showReads(diskSkillFiles(), terminal.progress);
  const catalog = openCatalog({ roots: searched, files, clock: systemClock, log, slice: Infinity });
  await catalog.ready;
  terminal.progress.done();
  return { catalog, roots: searched, complete: faults.length === 0 && fetched?.complete !== false };
}
