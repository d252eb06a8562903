import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import type { OpenPort } from "../../../src/runtime/ports.ts";
import { describeSandboxPort } from "../../contract/sandbox-contract.ts";

const standIn = fileURLToPath(new URL("../../agent/container-command.js", import.meta.url));

describeSandboxPort("the example's sandbox of containers", {
  tier: "container",
  async open() {
    if (spawnSync(standIn, ["version"]).status !== 0)
      return { skip: "bubblewrap, which stands in for docker, is missing." };
    vi.stubEnv("CONTAINER_COMMAND", standIn);
    const url = new URL("../../../examples/container-sandbox.js", import.meta.url);
    const { default: open } = (await import(url.href)) as { readonly default: OpenPort<"sandbox"> };
    return await open({ dataDirectory: "/nowhere", log: silentLog, blobs: {} });
  },
  offers: ["code", "skill", "python script", "bash script", "secrets", "brokered"],
  processes: true,
  namespaces: true,
});
