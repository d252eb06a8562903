import { fileURLToPath } from "node:url";
import { packageUrl } from "../../base/paths/location.ts";
import type { Amendment, Path } from "./amend.ts";
import { isRecord, type JsonRecord } from "./raw-message.ts";

/** The transport between an agent and the MCP server of acp-skills. */
export type McpTransport = "http" | "stdio";

/** The program that connects stdio to the MCP server of acp-skills: the package's command line with the command `mcp-bridge`. */
const bridge = {
  command: process.execPath,
  args: [fileURLToPath(packageUrl("cli/main.js")), "mcp-bridge"],
} as const;

/** The address of acp-skills' MCP server: a URL, or the path of a socket to which the bridge connects. */
export type ServerAddress =
  { readonly url: string; readonly headers: Readonly<Record<string, string>> } | { readonly path: string };

const usualName = "skills";
const list: Path = ["params", "mcpServers"];

/** Chooses the first name for acp-skills' server that no server of the editor has: `skills`, `skills-acp`, `skills-acp-2` and so on. */
export function chooseServerName(mcpServers: unknown): string {
  const taken = new Set(serverNames(mcpServers));
  let name = usualName;
  for (let count = 1; taken.has(name); count++) name = count === 1 ? "skills-acp" : `skills-acp-${count}`;
  return name;
}

/** Reads the names of the servers in `mcpServers`. */
export function serverNames(mcpServers: unknown): readonly string[] {
  if (!Array.isArray(mcpServers)) return [];
  return mcpServers.flatMap((server) => (isRecord(server) && typeof server["name"] === "string" ? server["name"] : []));
}

/** Makes the entry of acp-skills in `mcpServers`. In v1 only HTTP servers have a `type`; in v2 all servers do. */
export function toServerEntry(name: string, address: ServerAddress, protocol: 1 | 2): JsonRecord {
  if ("url" in address) {
    const headers = Object.entries(address.headers).map(([name, value]) => ({ name, value }));
    return { type: "http", name, url: address.url, headers };
  }
  const type = protocol === 2 ? { type: "stdio" } : {};
  return { ...type, name, command: bridge.command, args: [...bridge.args, address.path], env: [] };
}

/** Whether a server can be added to the params of a request: `mcpServers` is a list or absent. */
export function takesServer({ mcpServers }: JsonRecord): boolean {
  return mcpServers === undefined || mcpServers === null || Array.isArray(mcpServers);
}

/** Makes the amendment that appends an entry to the editor's own servers. */
export function addServer({ mcpServers }: JsonRecord, entry: JsonRecord): Amendment {
  if (!Array.isArray(mcpServers)) return { path: list, value: [entry] };
  return { path: list, at: mcpServers.length, remove: 0, insert: [entry] };
}
