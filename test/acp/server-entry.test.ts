import fc from "fast-check";
import { expect, test } from "vitest";
import { addServer, chooseServerName, serverNames, toServerEntry } from "../../src/acp/server-entry.ts";

const address = {
  url: "http://127.0.0.1:1/mcp/x",
  headers: { Authorization: "Bearer t" },
  bridgeEnvironment: { A: "b" },
};
const bridge = { command: "/node", args: ["cli.js", "mcp-bridge"] };

test.each([
  ["http", 1, { type: "http", name: "n", url: address.url, headers: [{ name: "Authorization", value: "Bearer t" }] }],
  ["http", 2, { type: "http", name: "n", url: address.url, headers: [{ name: "Authorization", value: "Bearer t" }] }],
  ["stdio", 1, { name: "n", command: "/node", args: bridge.args, env: [{ name: "A", value: "b" }] }],
  ["stdio", 2, { type: "stdio", name: "n", command: "/node", args: bridge.args, env: [{ name: "A", value: "b" }] }],
] as const)("the entry over %s in v%d", (transport, protocol, expected) => {
  expect(toServerEntry("n", address, { transport, protocol, bridge })).toEqual(expected);
});

test("no secret is among the arguments of a program, where other users could read it", () => {
  const entry = toServerEntry(
    "n",
    { ...address, bridgeEnvironment: { T: "Bearer t" } },
    { transport: "stdio", protocol: 1, bridge },
  );
  expect(JSON.stringify([entry["command"], entry["args"]])).not.toContain("Bearer");
});

test.each([
  [[], "skills"],
  [[{ name: "skills" }], "skills-acp"],
  [[{ name: "skills" }, { name: "skills-acp" }], "skills-acp-2"],
  [[{ name: "Skills" }, null, { name: 7 }], "skills"],
  [undefined, "skills"],
  ["odd", "skills"],
])("beside %j it is named %s", (servers, expected) => {
  expect(chooseServerName(servers)).toBe(expected);
});

test("the name is never one that is taken", () => {
  const taken = fc.array(fc.constantFrom("skills", "skills-acp", "skills-acp-2", "skills-acp-3", "other"));
  fc.assert(
    fc.property(taken, (names) => {
      const servers = names.map((name) => ({ name }));
      expect(serverNames(servers)).toEqual(names);
      expect(names).not.toContain(chooseServerName(servers));
    }),
  );
});

test("the entry comes behind the editor's; a list that is none is left alone", () => {
  const path = ["params", "mcpServers"];
  expect(addServer({ mcpServers: [1, 2] }, { a: 1 })).toEqual({ path, at: 2, remove: 0, insert: [{ a: 1 }] });
  expect(addServer({}, { a: 1 })).toEqual({ path, value: [{ a: 1 }] });
  expect(addServer({ mcpServers: null }, { a: 1 })).toEqual({ path, value: [{ a: 1 }] });
  expect(addServer({ mcpServers: "odd" }, { a: 1 })).toBeUndefined();
});
