import { spawn, spawnSync } from "node:child_process";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { openPeerCheck, userInTable } from "../../../../src/http/browse/admission/peer-user.ts";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1CA3 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 81 1 0 100 0 0 10 0
   1: 0100007F:1CA3 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 82 1 0 20 4 30 10 -1
   2: 0100007F:C350 0100007F:1CA3 01 00000000:00000000 02:00000000 00000000  1001        0 83 2 0 20 4 30 10 -1
`;

const isLinuxRoot = process.platform === "linux" && process.getuid?.() === 0;
const other = ["setpriv", "--reuid=65534", "--clear-groups"];

describe("whose a connection is", () => {
  it("is found at the end of the client", () => {
    const address = "127.0.0.1";
    expect(userInTable(table, { address, from: 50_000, to: 7_331 })).toBe(1001);
    expect(userInTable(table, { address, from: 50_001, to: 7_331 })).toBeUndefined();
  });

  it.runIf(process.platform === "linux")("is this user's, or root's, for a connection of its own", async () => {
    expect(await connectedAs([])).toBe(false);
  });

  it.runIf(isLinuxRoot)("is another user's for one of theirs", async () => {
    expect(await connectedAs(other)).toBe(true);
  });

  it.runIf(isLinuxRoot)("is another user's for one that an IPv6 socket made", async () => {
    expect(await connectedAs(other, { host: "::ffff:127.0.0.1" })).toBe(true);
  });

  it.runIf(isLinuxRoot)("is another user's for one from another address of this machine", async () => {
    expect(await connectedAs(other, { host: "127.0.0.1", localAddress: "127.0.0.2" })).toBe(true);
  });
});

/** Whether a connection is foreign that a process makes, started by `prefix`. */
async function connectedAs(prefix: readonly string[], where: object = { host: "127.0.0.1" }): Promise<boolean> {
  const isForeign = openPeerCheck();
  const server = createServer();
  const connected = new Promise<Socket>((resolve) => server.once("connection", resolve));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const script = `require("node:net").connect(${JSON.stringify({ ...where, port })}).resume()`;
  const [program = "", ...args]: readonly string[] = [...prefix, process.execPath, "-e", script];
  if (spawnSync("which", [program]).status !== 0) return prefix.length > 0;
  const child = spawn(program, args, { stdio: "ignore" });
  const socket = await connected;
  try {
    return isForeign(socket);
  } finally {
    socket.destroy();
    child.kill();
    server.close();
  }
}
