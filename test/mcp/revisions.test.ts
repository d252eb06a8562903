import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, describe, expect, it } from "vitest";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { LoopbackAddress } from "../../src/mcp/session-servers/loopback-server.ts";
import { type OpenMcpApp, openMcpApp } from "./open-mcp-app.ts";
import { legacyCall, modernRequest, rawRequest, speaksSkills } from "./raw-request.ts";

const opened: OpenMcpApp[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ server }) => server.close()));
});

async function open(): Promise<OpenMcpApp & { address: LoopbackAddress }> {
  const app = await openMcpApp();
  opened.push(app);
  return { ...app, address: await app.server.open(app.caller) };
}

const allTools = [
  "list_skills",
  "describe_skill",
  "read_skill_file",
  "execute_skill",
  "run_code",
  "create_blob",
  "read_blob",
  "load_skills_protocol_guide",
];

describe.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])("a client of %s", (revision) => {
  it("initializes, lists and calls tools", async () => {
    const { address } = await open();
    const initialize = {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: "raw", version: "1" } },
    };
    const opening = await rawRequest(address, { body: initialize });
    expect(opening.message).toMatchObject({
      id: 0,
      result: { protocolVersion: revision, serverInfo: { name: "acp-skills" }, capabilities: { tools: {} } },
    });
    expect(opening.message.result?.capabilities).not.toHaveProperty("resources");
    const speaking = { ...initialize, params: { ...initialize.params, capabilities: speaksSkills } };
    expect((await rawRequest(address, { body: speaking })).message.result).toMatchObject({
      capabilities: { resources: { listChanged: false } },
    });
    const headers = { "mcp-protocol-version": revision };
    const initialized = await rawRequest(address, {
      headers,
      body: { jsonrpc: "2.0", method: "notifications/initialized" },
    });
    expect(initialized.status).toBe(202);
    const tools = await rawRequest(address, { headers, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
    expect((tools.message.result?.tools as { name: string }[]).map(({ name }) => name)).toEqual(allTools);
    const call = await rawRequest(address, {
      headers,
      body: legacyCall("read_skill_file", { name: "alpha", path: "SKILL.md" }),
    });
    const structured = call.message.result?.structuredContent as { content: string };
    expect(structured.content).toContain("# Alpha");
    expect(call.message.result?.content).toEqual([{ type: "text", text: JSON.stringify(structured) }]);
  });
});

describe("a client of 2026-07-28", () => {
  it("discovers the server without any handshake", async () => {
    const { address } = await open();
    const { message } = await rawRequest(address, modernRequest("server/discover"));
    expect(message.result).toMatchObject({
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: { listChanged: false }, extensions: { "io.modelcontextprotocol/skills": {} } },
    });
    expect(message.result?.capabilities).not.toHaveProperty("resources");
  });

  it("is offered resources if it declares the Skills extension", async () => {
    const { address } = await open();
    const { message } = await rawRequest(address, modernRequest("server/discover", {}, speaksSkills));
    expect(message.result).toMatchObject({ capabilities: { resources: { listChanged: true } } });
  });

  it("lists and calls tools", async () => {
    const { address } = await open();
    const tools = await rawRequest(address, modernRequest("tools/list"));
    expect((tools.message.result?.tools as { name: string }[]).map(({ name }) => name)).toEqual(allTools);
    const call = await rawRequest(address, modernRequest("tools/call", { name: "list_skills", arguments: {} }));
    expect(call.message).toMatchObject({ id: 7, result: { structuredContent: { next_cursor: null } } });
  });

  it("gets an error when its headers contradict its body", async () => {
    const { address } = await open();
    const { body, headers } = modernRequest("tools/call", { name: "list_skills" });
    const { status, message } = await rawRequest(address, { body, headers: { ...headers, "mcp-name": "read_blob" } });
    expect([status, message.error?.code]).toEqual([400, -32020]);
  });
});

describe.each(["legacy", "auto"] as const)("the library's own client, in mode %s", (mode) => {
  async function connect(address: LoopbackAddress): Promise<Client> {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const requestInit = { headers: { ...address.headers } };
    await client.connect(new StreamableHTTPClientTransport(new URL(address.url), { requestInit }));
    return client;
  }

  it("gets tools with annotations and the field that keeps them listed", async () => {
    const { address } = await open();
    const client = await connect(address);
    const { tools } = await client.listTools();
    expect(tools.every(({ _meta }) => _meta?.["anthropic/alwaysLoad"] === true)).toBe(true);
    expect(tools.find(({ name }) => name === "create_blob")?.annotations?.readOnlyHint).toBe(false);
    expect(tools.find(({ name }) => name === "list_skills")?.annotations).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
    await client.close();
  });

  it("gets errors as tool results with the error object", async () => {
    const { address } = await open();
    const client = await connect(address);
    await client.listTools();
    const answer = await client.callTool({ name: "list_skills", arguments: { limitt: 1 } });
    expect(answer).toMatchObject({
      isError: true,
      structuredContent: {
        code: -32602,
        data: { code: "VALIDATION_ERROR", violations: [{ field: "/limitt" }], retryable: false },
      },
    });
    expect(answer.content).toEqual([{ type: "text", text: JSON.stringify(answer.structuredContent) }]);
    await client.close();
  });

  it("gets results and errors that match the listed schema", async () => {
    const { address } = await open();
    const client = await connect(address);
    const { tools } = await client.listTools();
    // Clients on version 1 of the library validate errors against the schema too.
    const schema = tools.find(({ name }) => name === "describe_skill")?.outputSchema;
    const validate = new Ajv2020().compile(schema as object);
    for (const name of ["alpha", "alpa"]) {
      const { structuredContent } = await client.callTool({ name: "describe_skill", arguments: { name } });
      expect(validate(structuredContent), name).toBe(true);
    }
    expect(validate({ skills: [] })).toBe(false);
    await client.close();
  });

  it("gets a protocol error for an unknown tool", async () => {
    const { address } = await open();
    const client = await connect(address);
    await expect(client.callTool({ name: "list_skils", arguments: {} })).rejects.toMatchObject({
      code: -32602,
      data: { code: "METHOD_NOT_FOUND", available: expect.arrayContaining(["list_skills"]) as string[] },
    });
    await client.close();
  });
});
