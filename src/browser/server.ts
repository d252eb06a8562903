import type { IsOwnPeer } from "../wire/http.ts";

export { serveBrowse } from "./server/serve-browse.ts";

/** The user and the directories that the page is for. */
export interface BrowseSettings {
  /** Whether nothing can be approved, run, installed or opened. */
  readonly readOnly: boolean;
  /** The project's directory, absolute. */
  readonly directory: string;
  /** The user's home directory. */
  readonly home: string;
  /** The directory of the user's approvals, ledger and sessions. Other processes change these files, too. */
  readonly dataDirectory: string;
  /** The hosts with private addresses from which sources may be read. */
  readonly allowPrivate: readonly string[];
}

export interface BrowseOptions extends BrowseSettings {
  /** Default: any free port. */
  readonly port?: number;
  readonly idleMs: number;
  /** Called once when nobody has used the page for `idleMs`. Must not throw. */
  readonly idle: () => void;
  /** The directory of the built page. Default: beside this package's code. */
  readonly pageDirectory?: string;
  /** Default: as the operating system reports. */
  readonly isOwnPeer?: IsOwnPeer;
}

/** A skill browser that listens on this machine only. */
export interface BrowseServer {
  /** Makes a URL that can be opened once, within five minutes. Earlier URLs stop working. */
  readonly newAddress: () => string;
  /** Ends streams and runs, and stops. Idempotent; never throws. */
  readonly close: () => Promise<void>;
}
