import path from "node:path";
import { systemClock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { openCatalog } from "../skills/catalog.ts";
import type { Catalog } from "../skills/catalog.ts";
import { diskSkillFiles } from "../skills/files/disk-skill-files.ts";
import { sessionRoots } from "../skills/scan/roots.ts";
import type { Root } from "../skills/scan/roots.ts";
import { directoryFault } from "./arguments/directory-fault.ts";
import { keepHeapSmall } from "./small-heap.ts";
import type { Terminal } from "./report/terminal.ts";

/** What `list` and `show` are asked. */
export interface ListingOptions {
  readonly skills?: readonly string[];
  readonly "no-default-roots"?: boolean;
  readonly cwd?: string;
  readonly json?: boolean;
}

export interface Listing {
  readonly catalog: Catalog;
  readonly roots: readonly Root[];
  /** Whether every directory that was asked for by name can be read. */
  readonly complete: boolean;
}

/** Reads the roots once, without watching. What was asked for and cannot be read is told; the rest is still listed. */
export async function openListing(options: ListingOptions, terminal: Terminal): Promise<Listing> {
  keepHeapSmall();
  const cwd = path.resolve(terminal.cwd, options.cwd ?? ".");
  const explicit = (options.skills ?? []).map((directory) => path.resolve(terminal.cwd, directory));
  const faults = [
    ...(options.cwd === undefined ? [] : directoryFault("--cwd", cwd)),
    ...explicit.flatMap((directory) => directoryFault("--skills", directory)),
  ];
  for (const fault of faults) terminal.tell(fault);
  const { roots } = sessionRoots({
    explicit,
    cwd,
    home: terminal.home,
    useDefaults: options["no-default-roots"] !== true,
  });
  const log: Log = (_level, message) => {
    terminal.tell(message);
  };
  const catalog = openCatalog({ roots, files: diskSkillFiles(), clock: systemClock, log, slice: Infinity });
  await catalog.ready;
  return { catalog, roots, complete: faults.length === 0 };
}
