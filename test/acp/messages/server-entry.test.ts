import fc from "fast-check";
import { expect, test } from "vitest";
import {
  addServer,
  chooseServerName,
  serverNames,
  takesServer,
  toServerEntry,
} from "../../../src/acp/messages/server-entry.ts";

const http = { url: "http://127.0.0.1:1/mcp/x", headers: { Authorization: "Bearer t" } };
const stdio = { path: "/private/socket" };
const own = {
  command: process.execPath,
  args: [expect.stringMatching(/cli.main\.js$/), "mcp-bridge", "/private/socket"],
};

test.each([
  [http, 1, { type: "http", name: "n", url: http.url, headers: [{ name: "Authorization", value: "Bearer t" }] }],
  [http, 2, { type: "http", name: "n", url: http.url, headers: [{ name: "Authorization", value: "Bearer t" }] }],
  [stdio, 1, { name: "n", ...own, env: [] }],
  [stdio, 2, { type: "stdio", name: "n", ...own, env: [] }],
] as const)("creates the entry for %j in v%d", (address, protocol, expected) => {
  expect(toServerEntry("n", address, protocol)).toEqual(expected);
});

test.each([
  [[], "skills"],
  [[{ name: "skills" }], "skills-acp"],
  [[{ name: "skills" }, { name: "skills-acp" }], "skills-acp-2"],
  [[{ name: "Skills" }, null, { name: 7 }], "skills"],
  [undefined, "skills"],
  ["odd", "skills"],
])("chooses the name beside %j: %s", (servers, expected) => {
  expect(chooseServerName(servers)).toBe(expected);
});

test("never chooses a name that is taken", () => {
  const taken = fc.array(fc.constantFrom("skills", "skills-acp", "skills-acp-2", "skills-acp-3", "other"));
  fc.assert(
    fc.property(taken, (names) => {
      const servers = names.map((name) => ({ name }));
      expect(serverNames(servers)).toEqual(names);
      expect(names).not.toContain(chooseServerName(servers));
    }),
  );
});

test("appends the entry to the editor's list and rejects mcpServers of another type", () => {
  const path = ["params", "mcpServers"];
  expect(addServer({ mcpServers: [1, 2] }, { a: 1 })).toEqual({ path, at: 2, remove: 0, insert: [{ a: 1 }] });
  expect(addServer({}, { a: 1 })).toEqual({ path, value: [{ a: 1 }] });
  expect(addServer({ mcpServers: null }, { a: 1 })).toEqual({ path, value: [{ a: 1 }] });
  expect([[1], null, undefined, "odd", {}].map((mcpServers) => takesServer({ mcpServers }))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});
