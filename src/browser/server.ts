import type { IsOwnPeer } from "../wire/http.ts";

export { serveBrowse } from "./server/serve-browse.ts";

/** For whom the page is, and where. */
export interface BrowseSettings {
  /** Nothing can be approved, run, installed or opened. */
  readonly readOnly: boolean;
  /** The project's directory, absolute. */
  readonly directory: string;
  /** The person's. */
  readonly home: string;
  /** Where this person's approvals, ledger and sessions are, which other processes change, too. */
  readonly dataDirectory: string;
  /** Hosts with private addresses that sources may be on. */
  readonly allowPrivate: readonly string[];
}

export interface BrowseOptions extends BrowseSettings {
  /** Default: any free one. */
  readonly port?: number;
  readonly idleMinutes: number;
  /** Called once when nobody has used the page for that long. Must not throw. */
  readonly idle: () => void;
  /** Where the page was built. Default: beside this package's code. */
  readonly pageDirectory?: string;
  /** Default: as the operating system reports. */
  readonly isOwnPeer?: IsOwnPeer;
}

/** A skill browser that listens, on this machine only. */
export interface BrowseServer {
  /** An address to open within five minutes; it works once, and earlier ones no longer. */
  readonly newAddress: () => string;
  /** Ends streams and runs, and stops. Idempotent; never throws. */
  readonly close: () => Promise<void>;
}
