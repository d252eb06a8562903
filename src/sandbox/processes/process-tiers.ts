import { openBubblewrapSandbox, cannotShow } from "./bubblewrap-sandbox.ts";
import { bubblewrapMissing, explainBubblewrap, readNamespaceSettings } from "./explain-bubblewrap.ts";
import { findCommand } from "../find/find-command.ts";
import { findPython } from "../find/find-python.ts";
import type { Python } from "../find/find-python.ts";
import { makeHostDirectory, removeHostDirectory, whereSandboxesReach } from "../directory/host-directory.ts";
import type { HostDirectory } from "../directory/host-directory.ts";
import { openLandlockSandbox } from "./landlock-sandbox.ts";
import type { ProcessSandboxOptions } from "./process-sandbox.ts";
import type { Explanation, Sandbox } from "../sandbox.ts";
import { probeSandbox } from "../find/self-probe.ts";
import { sweepLeftovers } from "../directory/sweep-leftovers.ts";
import { makeSyntheticRoot } from "./synthetic-root.ts";

export interface ProcessTierOptions extends Omit<ProcessSandboxOptions, "host"> {
  /** The interpreter to use; by default, one is searched for. */
  readonly python: string | undefined;
  readonly temporaryDirectory: string | undefined;
}

const installPython: readonly string[] = ["sudo apt-get install python3", "sudo dnf install python3"];

/** Opens the bubblewrap tier if it passes its self-test, or returns why it is not available. */
export function openBubblewrapTier(options: ProcessTierOptions): Promise<Sandbox | Explanation> {
  const bubblewrap = findCommand("bwrap", ["/usr/bin"]);
  if (bubblewrap === undefined) return Promise.resolve(bubblewrapMissing);
  return openTier(options, (python, host) => {
    const hidden = cannotShow(python);
    if (hidden !== undefined) return { reason: hidden, fix: installPython };
    return openBubblewrapSandbox({ ...options, bubblewrap, python, host, root: makeSyntheticRoot(host.path) });
  }).then((opened) =>
    "run" in opened || opened.fix.length > 0 ? opened : explainBubblewrap(opened.reason, readNamespaceSettings()),
  );
}

/** The same for the landlock tier. */
export function openLandlockTier(options: ProcessTierOptions): Promise<Sandbox | Explanation> {
  return openTier(options, (python, host) => openLandlockSandbox({ ...options, python, host }));
}

async function openTier(
  options: ProcessTierOptions,
  open: (python: Python, host: HostDirectory) => Sandbox | Explanation,
): Promise<Sandbox | Explanation> {
  const { log } = options;
  const temporaryDirectory = whereSandboxesReach(options.temporaryDirectory);
  await sweepLeftovers(log, temporaryDirectory);
  const python = await findPython(options.python);
  if ("reason" in python) return { ...python, fix: installPython };
  const host = await makeHostDirectory(python, temporaryDirectory);
  const removeHost = (): Promise<void> => removeHostDirectory(host.path);
  try {
    const opened = open(python, host);
    const fault = "run" in opened ? await probeSandbox(opened, temporaryDirectory) : undefined;
    if ("run" in opened && fault === undefined) return closingWith(opened, removeHost);
    if ("run" in opened) await opened.close();
    await removeHost();
    return "run" in opened ? { reason: fault ?? "", fix: [] } : opened;
  } catch (error) {
    await removeHost();
    throw error;
  }
}

/** `close` is idempotent. */
function closingWith(sandbox: Sandbox, close: () => Promise<void>): Sandbox {
  let closed: Promise<void> | undefined;
  return { ...sandbox, close: () => (closed ??= sandbox.close().then(close)) };
}
