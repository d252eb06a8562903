import { expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { openSandbox } from "../../../../src/runtime/sandbox/choose-sandbox.ts";
import { openEgressProxy } from "../../../../src/runtime/sandbox/egress-proxy.ts";
import { recordingHost } from "../../../contract/sandbox/recording-host.ts";
import { codeRun } from "../../../contract/sandbox/runs.ts";

const code = `
import urllib.request

def main(args):
    try:
        urllib.request.urlopen("http://tenant-key.example.org/")
    except OSError as error:
        return error.code
`;

test("masks the secrets of a run when it logs a refused connection", async ({ skip }) => {
  const logged: string[] = [];
  const { sandbox } = await openSandbox({
    isolation: "bubblewrap",
    egress: (server, network, log) => openEgressProxy(server, { network, clock: systemClock, log }),
    log(level, message) {
      if (level !== "info" || message.includes("connection")) logged.push(message);
    },
  });
  if (sandbox === undefined) return skip("bubblewrap cannot be had here");
  try {
    const host = recordingHost({ hide: (text) => text.replaceAll("tenant-key", "***") });
    const run = codeRun(code, { network: ["http://api.example.org"] });
    expect(await sandbox.run(run, host, new AbortController().signal)).toMatchObject({ type: "returned", value: 403 });
    expect(logged).toEqual([expect.stringContaining("refused a connection to http://***.example.org: ")]);
    expect(logged.join("")).not.toContain("tenant-key");
  } finally {
    await sandbox.close();
  }
});
