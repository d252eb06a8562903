import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { serveMcp } from "../../src/mcp/serve-mcp.ts";
import { openDoor } from "./open-door.ts";
import { legacyCall, modernRequest } from "./raw-request.ts";
import { initialize, openStdioClient } from "./stdio-client.ts";
import type { StdioMessage } from "./stdio-client.ts";

async function open() {
  const { door, caller, files, catalog } = await openDoor();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const ended = serveMcp(door, caller, { input, output });
  return { client: openStdioClient(input, output), input, output, ended, files, catalog };
}

const isChange = ({ method }: StdioMessage): boolean => method === "notifications/resources/list_changed";
const gamma = "---\nname: gamma\ndescription: Does gamma.\n---\n";

describe("MCP over stdio", () => {
  it.each(["2025-06-18", "2025-11-25"])(
    "serves a client that opens with %s, and tells it of changes",
    async (revision) => {
      const { client, input, ended, files, catalog } = await open();
      expect((await client.ask(initialize(revision))).result).toMatchObject({
        protocolVersion: revision,
        capabilities: { resources: { listChanged: true }, tools: { listChanged: false } },
      });
      client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      expect((await client.ask(legacyCall("list_skills", {}) as { id: number })).result).toBeDefined();
      files.write("/skills/gamma/SKILL.md", gamma);
      await catalog.reload();
      await client.wait(isChange);
      input.end();
      await ended;
    },
  );

  it("serves a client of 2026-07-28, after a probe as well", async () => {
    const { client, input, ended } = await open();
    const ask = (method: string, id: number, params = {}): Promise<StdioMessage> =>
      client.ask({ ...(modernRequest(method, params).body as object), id });
    expect((await ask("server/discover", 1)).result).toMatchObject({ supportedVersions: ["2026-07-28"] });
    expect((await ask("tools/list", 2)).result?.tools).toHaveLength(8);
    expect((await ask("skills/list", 3)).result?.skills).toHaveLength(2);
    input.end();
    await ended;
  });

  it("falls back for a client that probes for 2026-07-28 and then opens with 2025-11-25", async () => {
    const { client, input, ended } = await open();
    await client.ask({ ...(modernRequest("server/discover").body as object), id: "probe" });
    expect((await client.ask(initialize("2025-11-25"))).result).toMatchObject({ protocolVersion: "2025-11-25" });
    input.end();
    await ended;
  });

  it("takes a message of fifteen mebibytes", async () => {
    const { client, input, ended } = await open();
    const content = "A".repeat(15 * 1024 * 1024);
    const answer = await client.ask(legacyCall("create_blob", { content, kind: "text/plain" }) as { id: number });
    expect(answer.result).toMatchObject({ isError: true, structuredContent: { data: { code: "BLOB_TOO_LARGE" } } });
    input.end();
    await ended;
  });

  it("takes every blob that may be kept, however long JSON makes it", async () => {
    const { client, input, ended } = await open();
    const content = "\u0001".repeat(10 * 1024 * 1024);
    const answer = await client.ask(legacyCall("create_blob", { content, kind: "text/plain" }) as { id: number });
    expect(answer.result).toMatchObject({ structuredContent: { size_bytes: content.length } });
    input.end();
    await ended;
  });

  it("ends when the client takes no more, and stops hearing of changes", async () => {
    const { output, ended, files, catalog } = await open();
    output.destroy(new Error("gone"));
    await ended;
    files.write("/skills/gamma/SKILL.md", gamma);
    expect((await catalog.reload()).skills).toHaveLength(4);
  });
});
