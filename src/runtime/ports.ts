import { SkillsError } from "../base/errors.ts";
import { type CopiedFile, toCopy, toHex } from "../skills/files.ts";
import type { Skillset } from "../skills/skillset.ts";
import type { SourceReader } from "../sources/reader.ts";
import type { BlobStore, BlobUpkeep } from "./blobs.ts";
import type { Ledger } from "./ledger.ts";
import type { Settings } from "./options.ts";
import type { RunExecutor, RunStore } from "./runs.ts";
import type { Sandbox } from "./sandbox.ts";
import type { ApprovalStore } from "./trust/approvals.ts";
import type { SharedPolicy } from "./trust/policy.ts";

// For adapters of your own: `acp-skills/ports`, for modules that the option `ports` names. `acp-skills/testing` has the contract of each port, as vitest tests.
export type {
  Json,
  MountedBlob,
  MountedFile,
  MountedSkill,
  RunEnd,
  RunError,
  RunHost,
  RunLimits,
  RunNeeds,
  Sandbox,
  SandboxProject,
  SandboxRun,
  SkillCallFailure,
} from "./sandbox.ts";
export type { BlobRange, BlobStore, BlobUpkeep, ListedBlob, ReleaseBlob, StoredBlob, Swept } from "./blobs.ts";
export type { Approvals, ApprovalScope, ApprovalStore } from "./trust/approvals.ts";
export { changeApprovals, nothingApproved, parseApprovals } from "./trust/approvals.ts";
export type { CopiedFile };
export type { RemoteIndex, RemoteSkill, SeenBefore, SkillFile, SourceReader } from "../sources/reader.ts";
export type { Ledger, LedgerEntry } from "./ledger.ts";

/** The ports that `SkillsOptions.ports` names. */
export interface Ports {
  /** The isolation of code. Opened for the first run and, if that failed, again for the next run. */
  readonly sandbox: Sandbox;
  readonly blobs: BlobStore & BlobUpkeep;
  /** The approvals and blocks of the user. Code that writes them decides what skills may do. */
  readonly approvals: ApprovalStore;
  /** The reader that lists and downloads skills of `SkillsOptions.sources`. Opened for each check of the sources. */
  readonly sources: SourceReader;
  readonly ledger: Ledger;
}

/** The settings for an adapter of your own; `blobs`: the limits of `SkillsOptions`. The query of its URL can carry its own settings. */
export type PortContext = Pick<Settings, "dataDirectory" | "log" | "blobs">;

/** The default export of a module that `SkillsOptions.ports` names. */
export type OpenPort<Name extends keyof Ports> = (context: PortContext) => Ports[Name] | Promise<Ports[Name]>;

/**
 * The given adapters, or the functions that open them.
 * @hidden
 */
export interface GivenPorts extends Partial<Pick<Ports, "blobs" | "approvals" | "ledger">> {
  readonly records?: RunStore;
  /** The policy of the organisation for many machines, as it is now. */
  readonly sharedPolicy?: () => SharedPolicy | undefined;
  /** The executor that takes runs instead of this process. */
  readonly executor?: RunExecutor;
  /** Adds skills from another source to each session, after all others. */
  readonly addSkills?: (skillset: Skillset) => Skillset;
  /** Returns the metrics that a server shows besides its own, in the text format of Prometheus. Never rejects. */
  readonly metrics?: () => Promise<string>;
  /** Closes the resources that the adapters share, after the app has closed each adapter. */
  readonly close?: () => Promise<void>;
  readonly openSandbox?: () => Promise<Sandbox>;
  readonly openReader?: () => Promise<SourceReader>;
}

/** Returns the files that `ApprovalStore.keepCopy` stores, without texts that are too long or not of their file; undefined if none. */
export function toApprovedCopy(digest: string, files: readonly CopiedFile[]): readonly CopiedFile[] | undefined {
  return toHex(digest) === undefined ? undefined : toCopy(files);
}

/** The methods that each port must have. */
const methods: { readonly [Name in keyof Ports]: readonly (keyof Ports[Name])[] } = {
  sandbox: ["refuses", "run", "close"],
  blobs: ["put", "stat", "read", "hold", "remove", "list", "sweep", "close"],
  approvals: ["read", "change", "scopes", "readCopy", "keepCopy"],
  sources: ["read", "skillFiles", "close"],
  ledger: ["record", "read", "close"],
};

/**
 * Loads the modules that the settings name. Rejects with INVALID_OPTIONS if one cannot be loaded, exports no function, or opens something
 * else.
 * @internal
 */
export async function openPorts({ ports, dataDirectory, log, blobs }: Settings): Promise<GivenPorts> {
  const context: PortContext = { dataDirectory, log, blobs };
  async function load<Name extends keyof Ports>(name: Name): Promise<(() => Promise<Ports[Name]>) | undefined> {
    const url = ports[name];
    if (url === undefined) return undefined;
    const refuse = (reason: string, cause?: unknown): SkillsError =>
      new SkillsError("INVALID_OPTIONS", `ports.${name}: ${url} ${reason}`, { cause, facts: { option: "ports" } });
    const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
    const imported: unknown = await import(url).catch((error: unknown) => {
      throw refuse(`cannot be loaded: ${wordsOf(error)}`, error);
    });
    const { default: open } = imported as { readonly default?: unknown };
    if (typeof open !== "function") throw refuse("has no function as its default export.");
    return async () => {
      let port: Ports[Name];
      try {
        port = await (open as OpenPort<Name>)(context);
      } catch (error) {
        throw refuse(`cannot be opened: ${wordsOf(error)}`, error);
      }
      const missing = methods[name].filter((method) => typeof port[method] !== "function");
      if (missing.length > 0) throw refuse(`opens something without ${missing.join(", ")}.`);
      return port;
    };
  }
  const [sandbox, reader, ...others] = await Promise.all([
    load("sandbox"),
    load("sources"),
    load("blobs"),
    load("approvals"),
    load("ledger"),
  ]);
  const [ownBlobs, approvals, ledger] = await Promise.all([others[0]?.(), others[1]?.(), others[2]?.()]);
  return {
    ...(sandbox && { openSandbox: () => openGivenSandbox(sandbox) }),
    ...(reader && { openReader: reader }),
    ...(ownBlobs && { blobs: ownBlobs }),
    ...(approvals && { approvals }),
    ...(ledger && { ledger }),
  };
}

/** The form of a tier's name in results and the ledger; `none` is excluded, because it means that nothing isolates. */
const tierName = /^(?!none$)[a-z][a-z0-9-]{0,31}$/;

async function openGivenSandbox(open: () => Promise<Sandbox>): Promise<Sandbox> {
  try {
    const sandbox = await open();
    if (tierName.test(sandbox.tier)) return sandbox;
    await sandbox.close();
    throw new Error(`ports.sandbox: its tier must match ${tierName.source}, not be ${JSON.stringify(sandbox.tier)}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SkillsError("SANDBOX_UNAVAILABLE", `There is no sandbox. ${reason}`, {
      cause: error,
    });
  }
}
