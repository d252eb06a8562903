import { connect } from "node:net";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { Log } from "../base/log.ts";
import { type ParentOptions, whenParentGone } from "../base/processes/live-process.ts";
import { privacyFault } from "./session-servers/private-directory.ts";

export interface BridgeOptions extends ParentOptions {
  /** The bytes from the agent. */
  readonly input: Readable;
  /** The bytes to the agent. */
  readonly output: Writable;
  /** The path of the socket of the acp-skills process. */
  readonly path: string;
  readonly log: Log;
  readonly platform?: NodeJS.Platform;
}

/**
 * Pipes bytes between stdio and the socket of the acp-skills process. Resolves when either end closes or the agent exits: with false if
 * the socket could not be used.
 */
export async function runBridge(options: BridgeOptions): Promise<boolean> {
  const { input, output, path, log, platform = process.platform } = options;
  const fault = platform === "win32" ? undefined : privacyFault(dirname(path));
  if (fault !== undefined) {
    log("error", `The socket ${path} was not used: its directory is not private: ${fault}.`);
    return false;
  }
  const socket = connect({ path, allowHalfOpen: true });
  const end = (): void => void socket.destroy();
  const stopWatching = whenParentGone(options, end);
  input.on("error", end);
  output.once("error", end).once("close", end);
  input.pipe(socket).pipe(output, { end: false });
  socket.once("end", () => socket.end());
  const seen: { isConnected: boolean; failure?: Error } = { isConnected: false };
  socket.once("connect", () => void (seen.isConnected = true)).on("error", (error) => void (seen.failure ??= error));
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  stopWatching();
  output.off("close", end);
  input.unpipe(socket).destroy();
  // A connection that breaks later means that the session, or the process that served it, ended.
  if (seen.isConnected || seen.failure === undefined) return true;
  log("error", `Could not connect to the skills server: ${seen.failure.message}`);
  return false;
}
