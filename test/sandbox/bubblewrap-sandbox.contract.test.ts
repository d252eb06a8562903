import { systemClock } from "../../src/clock.ts";
import { silentLog } from "../../src/log.ts";
import { openBubblewrapSandbox } from "../../src/sandbox/bubblewrap-sandbox.ts";
import { openEgressProxy } from "../../src/sandbox/egress-proxy.ts";
import { findCommand } from "../../src/sandbox/find-command.ts";
import { findPython } from "../../src/sandbox/find-python.ts";
import { makeHostDirectory } from "../../src/sandbox/host-directory.ts";
import { removeTree } from "../../src/sandbox/remove-tree.ts";
import { makeSyntheticRoot } from "../../src/sandbox/synthetic-root.ts";
import { describeSandbox } from "../contract/sandbox-contract.ts";

describeSandbox("the bubblewrap tier", {
  async open() {
    const bubblewrap = findCommand("bwrap");
    if (bubblewrap === undefined) return { skip: "bubblewrap is not installed." };
    const python = await findPython();
    if ("reason" in python) return { skip: python.reason };
    const host = await makeHostDirectory(python);
    const sandbox = openBubblewrapSandbox({
      bubblewrap,
      python,
      root: makeSyntheticRoot(host.path),
      host,
      pool: { size: 2, idleMs: 60_000 },
      egress: (server, network, log) => openEgressProxy(server, { network, clock: systemClock, log }),
      clock: systemClock,
      log: silentLog,
    });
    return {
      ...sandbox,
      async close() {
        await sandbox.close();
        await removeTree(host.path);
      },
    };
  },
  offers: [
    "code",
    "skill",
    "python script",
    "bash script",
    "node script",
    "network",
    "project",
    "packages",
    "secrets",
    "brokered",
  ],
  processes: true,
  namespaces: true,
});
