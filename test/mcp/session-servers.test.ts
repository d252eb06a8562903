import { existsSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { LoopbackAddress } from "../../src/mcp/session-servers/loopback-server.ts";
import { openSessionServers } from "../../src/mcp/session-servers.ts";
import type { SocketAddress } from "../../src/mcp/session-servers/socket-server.ts";
import { openMcpApp } from "./open-mcp-app.ts";
import { legacyCall, rawRequest } from "./raw-request.ts";
import { openStdioClient } from "./stdio-client.ts";

test("serves a session with the same results over HTTP and through the bridge until closed", async () => {
  const { app, caller } = await openMcpApp();
  const servers = openSessionServers({ ...app, clock: systemClock });
  const http = (await servers.open(caller, "http")) as LoopbackAddress;
  const { message } = await rawRequest(http, { body: legacyCall("list_skills", {}) });
  expect(message.result?.structuredContent).toMatchObject({ skills: [{ name: "alpha" }, {}, {}, {}] });
  const { path: socketPath } = (await servers.open(caller, "stdio")) as SocketAddress;
  const socket = connect(socketPath);
  const answer = await openStdioClient(socket, socket).ask(legacyCall("list_skills", {}, "b") as { id: string });
  expect(answer.result?.structuredContent).toEqual(message.result?.structuredContent);
  await servers.close();
  await expect(rawRequest(http, { body: legacyCall("list_skills", {}) })).rejects.toThrow();
  expect(existsSync(path.dirname(socketPath))).toBe(false);
  for (const transport of ["http", "stdio"] as const)
    await expect(servers.open(caller, transport)).rejects.toMatchObject({ code: "CLOSED" });
});
