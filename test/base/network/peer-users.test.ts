import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { endianness } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  canIdentifyPeerUsers,
  findPeerUser,
  createPeerUsers,
  readUserTable,
} from "../../../src/base/network/peer-users.ts";
import { createPeerCheck } from "../../../src/wire/http.ts";

const connection = {
  remoteAddress: "127.0.0.1",
  remotePort: 0xc001,
  localAddress: "127.0.0.1",
  localPort: 0x1f90,
};

const [four, six] =
  endianness() === "LE"
    ? ["0100007F", "0000000000000000FFFF00000100007F"]
    : ["7F000001", "00000000000000000000FFFF7F000001"];

function row({
  address = four,
  remotePort = "C001",
  localPort = "1F90",
  state = "01",
  user = "1000",
  inode = "77",
}): string {
  const queues = "00000000:00000000 00:00000000 00000000";
  return `   1: ${address}:${remotePort} ${address}:${localPort} ${state} ${queues}  ${user}        0 ${inode} 1 0000\n`;
}

describe("findPeerUser", () => {
  it.each([
    ["finds the user of an IPv4 socket", row({}), 1000],
    ["finds the user of a dual-stack socket", row({ address: six }), 1000],
    ["finds the user in a later row", row({ remotePort: "C002", user: "5" }) + row({}), 1000],
    ["finds root", row({ user: "0" }), 0],
    ["finds no user in an empty table", "", undefined],
    ["ignores our own end of the connection", row({ remotePort: "1F90", localPort: "C001" }), undefined],
    [
      "ignores a connection that its process has closed, which is listed as root's",
      row({ state: "05", user: "0", inode: "0" }),
      undefined,
    ],
    ["ignores a connection in TIME_WAIT", row({ state: "06", user: "0", inode: "0" }), undefined],
    ["ignores a socket without a process", row({ user: "0", inode: "0" }), undefined],
  ])("%s", (_what, table, user) => {
    expect(findPeerUser(readUserTable(table), connection)).toBe(user);
  });

  it("accepts an IPv4 address in both forms and no other address", () => {
    const table = readUserTable(row({}));
    expect(findPeerUser(table, { ...connection, remoteAddress: "::ffff:127.0.0.1" })).toBe(1000);
    expect(findPeerUser(table, { ...connection, remoteAddress: "::2", localAddress: "::2" })).toBeUndefined();
    expect(findPeerUser(table, {})).toBeUndefined();
  });

  it("finds the user of an IPv6 socket", () => {
    const address = `${"0".repeat(24)}${endianness() === "LE" ? "01000000" : "00000001"}`;
    const table = readUserTable(row({}) + row({ address, user: "1001" }));
    expect(findPeerUser(table, { ...connection, remoteAddress: "::1", localAddress: "::1" })).toBe(1001);
  });
});

describe("createPeerUsers", () => {
  it("shares one read between concurrent callers, but not a read that started earlier", async () => {
    const readings: ((table: string) => void)[] = [];
    const { userOf } = createPeerUsers(() => new Promise((resolve) => readings.push(resolve)));
    const first = userOf(connection);
    await expect.poll(() => readings.length).toBe(1);
    const later = [userOf(connection), userOf(connection)];
    readings[0]?.(row({ user: "1" }));
    await expect.poll(() => readings.length).toBe(2);
    readings[1]?.(row({ user: "2" }));
    expect([await first, ...(await Promise.all(later))]).toEqual([1, 2, 2]);
  });

  it("reads again if the row is missing, and after a failure", async () => {
    const tables = [Promise.reject(new Error("EMFILE")), "", row({})].map((table) => Promise.resolve(table));
    for (const table of tables) table.catch(() => undefined);
    const { userOf } = createPeerUsers(() => tables.shift() ?? Promise.resolve(""));
    await expect(userOf(connection)).rejects.toThrow("EMFILE");
    expect(await userOf(connection)).toBe(1000);
    expect(await userOf(connection)).toBeUndefined();
  });
});

describe.runIf(canIdentifyPeerUsers())("createPeerUsers on this machine", () => {
  async function listen(): Promise<{ server: Server; port: number }> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    return { server, port: (server.address() as AddressInfo).port };
  }

  it("finds this user for connections over IPv4 and IPv4-mapped addresses", async () => {
    const { server, port } = await listen();
    const { userOf } = createPeerUsers();
    for (const host of ["127.0.0.1", "::ffff:127.0.0.1"]) {
      const accepted = once(server, "connection") as Promise<[Socket]>;
      const client = connect(port, host);
      const [socket] = await accepted;
      expect(await userOf(socket)).toBe(process.geteuid?.());
      client.destroy();
      await once(socket.resume(), "close");
      expect(await userOf({ ...connection, localPort: port })).toBeUndefined();
    }
  });
});

describe("createPeerCheck", () => {
  const socket = { ...connection, destroyed: false } as unknown as Socket;
  const own = process.geteuid?.() ?? 0;

  it.each([
    ["admits this user", () => Promise.resolve(own), true, []],
    ["admits root", () => Promise.resolve(0), true, []],
    ["refuses another user", () => Promise.resolve(own + 4711), false, [expect.stringContaining("by another user")]],
    ["refuses a user who cannot be found", () => Promise.resolve(undefined), false, []],
    [
      "refuses when the system does not answer",
      () => Promise.reject(new Error("EMFILE")),
      false,
      [expect.stringContaining("Connections to the page are refused because their user cannot be determined")],
    ],
  ])("%s, and asks once for each connection", async (_what, userOf, isAdmitted, told) => {
    const logged: string[] = [];
    let asked = 0;
    const peers = { userOf: () => ((asked += 1), userOf()) };
    const isOwnPeer = createPeerCheck((_level, message) => void logged.push(message), "the page", peers);
    expect([await isOwnPeer(socket), await isOwnPeer(socket)]).toEqual([isAdmitted, isAdmitted]);
    expect(asked).toBe(1);
    expect(logged).toEqual(told);
  });

  it("refuses a connection that has ended: another may have its port", async () => {
    const isOwnPeer = createPeerCheck(() => undefined, "the page", { userOf: () => Promise.resolve(own) });
    expect(await isOwnPeer({ ...connection, destroyed: true } as unknown as Socket)).toBe(false);
  });
});

describe.runIf(process.platform === "linux" && process.getuid?.() === 0)("createPeerCheck on this machine", () => {
  it.each([
    ["over IPv4", { host: "127.0.0.1" }],
    ["over an IPv6 socket", { host: "::ffff:127.0.0.1" }],
    ["from another address of this machine", { host: "127.0.0.1", localAddress: "127.0.0.2" }],
  ])("admits root and refuses another user %s", async (_what, where) => {
    expect(await isAdmittedAs(0, where)).toBe(true);
    expect(await isAdmittedAs(65_534, where)).toBe(false);
  });

  async function isAdmittedAs(uid: number, where: object): Promise<boolean> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const script = `require("node:net").connect(${JSON.stringify({ ...where, port })}).resume()`;
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const child = spawn(process.execPath, ["-e", script], { stdio: "ignore", uid, gid: uid, cwd: "/" });
    const [socket] = await accepted;
    try {
      return await createPeerCheck(() => undefined, "the page")(socket);
    } finally {
      socket.destroy();
      child.kill();
      server.close();
    }
  }
});

it("is available on Linux only", () => {
  expect([canIdentifyPeerUsers("darwin"), canIdentifyPeerUsers("win32")]).toEqual([false, false]);
});
