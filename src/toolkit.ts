import { createHash } from "node:crypto";
import path from "node:path";
import type { BlobStore, BlobUpkeep } from "./blobs/blob-store.ts";
import { diskBlobs } from "./blobs/disk/disk-blobs.ts";
import type { Clock } from "./base/clock.ts";
import { SkillsError } from "./errors.ts";
import { diskLedger } from "./ledger/disk-ledger.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { LoopbackAddress, LoopbackServer } from "./mcp/loopback/loopback-server.ts";
import type { SocketAddress, SocketServer } from "./mcp/socket/socket-server.ts";
import type { McpCaller, McpDoor } from "./mcp/mcp-door.ts";
import type { Settings } from "./options.ts";
import { openRunMeans } from "./runs/run-means.ts";
import { diskSkillFiles } from "./skills/files/disk-skill-files.ts";
import { diskSkillBytes } from "./skills/files/disk-skill-bytes.ts";
import { openSkillHasher } from "./skills/hash/hash-skill.ts";
import { toToolLimits } from "./tools/limits.ts";
import type { SkillSource } from "./skills/files/skill-source.ts";
import { openRuns } from "./runs/runs.ts";
import { openToolbox } from "./tools/toolbox.ts";
import type { Toolbox } from "./tools/toolbox.ts";

/** Whose blobs are those of the person at this machine: of the command line, and of calls that belong to no session. */
export const localOwner = "local";

/** Whose session it is, and where it works. An id alone is told apart from others by its own agent only. */
export interface SessionPlace {
  /** What the agent calls itself. */
  readonly agent?: string | undefined;
  readonly directory?: string | undefined;
}

/** Whose blobs are those of a session. It is the same again when the same agent loads the session later, in the same place. */
export function ownerOf(sessionId: string | undefined, { agent = "", directory = "" }: SessionPlace): string {
  if (sessionId === undefined) return localOwner;
  const place = createHash("sha256")
    .update(JSON.stringify([agent, directory]))
    .digest("hex");
  return `session:${sessionId}@${place.slice(0, 16)}`;
}

/** How one session's MCP server is reached: over HTTP, or through `acp-skills mcp-bridge` and a socket. */
export type McpAddress = LoopbackAddress | SocketAddress;

/** The tools with all they need: joined once for every door, opened once, closed once. */
export interface Toolkit extends McpDoor {
  readonly toolbox: Toolbox;
  readonly blobs: BlobStore & BlobUpkeep;
  readonly ledger: Ledger;
  /** Opens the door to one session's model. The library behind it is loaded, and a port listens, from the first call on. */
  openMcp(caller: McpCaller, transport: "http" | "stdio"): Promise<McpAddress>;
  /** Closes every door, then what is behind them. May be called more than once; never throws. */
  close(): Promise<void>;
}

/** What of the settings the tools take. */
type ToolkitSettings = Pick<Settings, "log" | "clock" | "version" | "dataDirectory"> &
  Partial<Pick<Settings, "blobs" | "grants" | "secretsFile" | "isolation">>;

export interface ToolkitOptions {
  /** Where the files of skills are. Default: on disk. */
  readonly source?: SkillSource;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** The same by the clock of the disk that blobs are on. Default: it is asked. */
  readonly diskNow?: () => number;
}

/** Not at once: whoever is in a hurry to open a session, or to end, is not kept. */
const firstSweepAfterMs = 2_000;
const sweepEveryMs = 60 * 60 * 1_000;

/**
 * Opens the tools. Blobs and the ledger are in the data directory; where that cannot be used, whoever wants to keep or read a blob is
 * told why, and the log is told of uses that are not recorded, until it can be. Never throws for a directory. Blobs are swept a little
 * later, and then hourly.
 */
export function openToolkit(
  settings: ToolkitSettings,
  { source = { files: diskSkillFiles(), bytes: diskSkillBytes() }, now = Date.now, diskNow }: ToolkitOptions = {},
): Toolkit {
  const { log, clock, version, dataDirectory, blobs: blobLimits = {} } = settings;
  const ledger = diskLedger(path.join(dataDirectory, "ledger"), { log });
  const blobs = diskBlobs(path.join(dataDirectory, "blobs"), { ...blobLimits, clock, ...(diskNow && { diskNow }) });
  const means = openRunMeans(settings);
  const hasher = openSkillHasher();
  const toolbox = openToolbox({
    blobs,
    source,
    hasher,
    log,
    limits: toToolLimits(blobLimits),
    dataDirectory,
    now,
    runs: openRuns(means),
    onUse: (use) => {
      ledger.record(use);
    },
  });
  const door: McpDoor = { toolbox, source, hasher, log, version };
  let mcp: Promise<McpServers> | undefined;
  let closing: Promise<void> | undefined;
  let stopSweeping = clock.after(firstSweepAfterMs, sweep);

  function sweep(): void {
    stopSweeping = clock.after(sweepEveryMs, sweep);
    blobs.sweep().catch((error: unknown) => {
      if (closing === undefined) log("warning", `Blobs in ${dataDirectory} were not swept: ${String(error)}`);
    });
  }

  async function close(): Promise<void> {
    stopSweeping();
    await mcp?.then(({ http, stdio }) => Promise.all([http.close(), stdio.close()])).catch(closingFailed);
    await means.close().catch(closingFailed);
    await blobs.close().catch(closingFailed);
    ledger.close();
  }

  function closingFailed(error: unknown): void {
    log("warning", `Closing the tools failed: ${String(error)}`);
  }

  return {
    ...door,
    toolbox,
    blobs,
    ledger,
    async openMcp(caller, transport) {
      if (closing !== undefined) throw new SkillsError("CLOSED", "The tools were closed.");
      const { [transport]: server } = await (mcp ??= loadMcp(door, clock));
      return await server.open(caller);
    },
    close: () => (closing ??= close()),
  };
}

/** Neither listens before its first session. */
interface McpServers {
  readonly http: LoopbackServer;
  readonly stdio: SocketServer;
}

/** Loads what `openMcp` needs, ahead of its first call. */
export async function loadMcpServers(): Promise<McpModules> {
  const [{ openLoopbackServer }, { openSocketServer }] = await Promise.all([
    import("./mcp/loopback/loopback-server.ts"),
    import("./mcp/socket/socket-server.ts"),
  ]);
  return { openLoopbackServer, openSocketServer };
}

interface McpModules {
  readonly openLoopbackServer: (door: McpDoor) => LoopbackServer;
  readonly openSocketServer: (door: McpDoor, clock: Clock) => SocketServer;
}

async function loadMcp(door: McpDoor, clock: Clock): Promise<McpServers> {
  const { openLoopbackServer, openSocketServer } = await loadMcpServers();
  return { http: openLoopbackServer(door), stdio: openSocketServer(door, clock) };
}
