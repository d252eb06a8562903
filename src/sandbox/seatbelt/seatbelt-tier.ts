import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { findPython } from "../find/find-programs.ts";
import { makeHostDirectory, sweepLeftovers } from "../directory/host-directory.ts";
import { removeTree } from "../directory/private-directory.ts";
import type { Explanation, Sandbox } from "../sandbox.ts";
import { loadSeatbeltRuntime, openSeatbeltSandbox, seatbeltRemedy } from "./seatbelt-sandbox.ts";
import { testSandbox } from "../find/self-probe.ts";
import { urlOf } from "../../base/url-of.ts";

export interface SeatbeltTierOptions {
  readonly python: string | undefined;
  /** Directories whose `node_modules` are searched too. Must be trusted: what is found is executed. */
  readonly peersFrom?: readonly string[] | undefined;
  readonly temporaryDirectory?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Opens the macOS tier if it passes its self-test, or returns why it is not available. */
export async function openSeatbeltTier(options: SeatbeltTierOptions): Promise<Sandbox | Explanation> {
  const { peersFrom = [], temporaryDirectory = tmpdir(), clock, log } = options;
  if (process.platform !== "darwin") return { reason: "Seatbelt is available on macOS only.", fix: [] };
  if (process.getuid?.() === 0)
    return { reason: "Seatbelt is not available as root: root's processes cannot be prevented from forking.", fix: [] };
  const runtime = await loadSeatbeltRuntime([fileURLToPath(new URL(".", urlOf(import.meta))), ...peersFrom]);
  if (runtime === undefined)
    return { reason: "@anthropic-ai/sandbox-runtime is not installed.", fix: [seatbeltRemedy()] };
  const python = await findPython(options.python);
  if ("reason" in python) return { reason: python.reason, fix: ["xcode-select --install"] };
  await sweepLeftovers(log, temporaryDirectory);
  const host = await makeHostDirectory(python, temporaryDirectory);
  try {
    return await testSandbox(await openSeatbeltSandbox({ runtime, python, host, clock, log }), temporaryDirectory);
  } catch (error) {
    await removeTree(host.path);
    throw error;
  }
}
