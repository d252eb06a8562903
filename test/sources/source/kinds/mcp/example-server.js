// node example-server.js DIRECTORY [stdio|http] [serve|reject]: the skills of a directory, with the Skills extension of MCP's SDK. `reject`:
// revisions before 2026-07-28 are refused. Over http, prints its URL.
import { serve } from "@hono/node-server";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { loadSkills } from "@modelcontextprotocol/server/ext/skills/node";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [directory = "", form = "stdio", older = "serve"] = process.argv.slice(2);
const skills = await loadSkills(directory);
const legacy = older === "reject" ? "reject" : undefined;

function open() {
  const server = new McpServer({ name: "example", version: "1.0.0" });
  skills.attach(server);
  return server;
}

if (form === "stdio") serveStdio(open, legacy && { legacy });
else {
  const handler = createMcpHandler(open, legacy && { legacy });
  serve({ fetch: (request) => handler.fetch(request), port: 0, hostname: "127.0.0.1" }, ({ port }) => {
    console.log(`http://127.0.0.1:${port}/mcp`);
  });
}
