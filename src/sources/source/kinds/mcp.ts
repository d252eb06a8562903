import { invalidSource, redactionMark, toLabel } from "../source-label.ts";
import type { SourceKind } from "../source-kind.ts";
import { parseServerText, toCommandText } from "./mcp/server-text.ts";

/**
 * `mcp:URL` and `mcp:COMMAND ARGS…`: the skills of a server with MCP's Skills extension (SEP-2640), over Streamable HTTP or as a program
 * of this machine. A program is started only if the user names it: a lock alone is not enough.
 */
export const mcpKind: SourceKind = {
  scheme: "mcp",
  parse(text) {
    const location = parseServerText(text.replace(/^mcp:/i, "").trim());
    if ("why" in location) throw invalidSource(location.why, "mcp:https://example.com/mcp");
    if ("url" in location) {
      const { url } = location;
      const query = new URL(url).search === "" ? "" : `?${redactionMark}`;
      return { label: `mcp:${toLabel(url)}${query}`, kind: "scheme", url };
    }
    const label = `mcp:${toCommandText(location.words)}`;
    if (!URL.canParse(label)) throw invalidSource("a command cannot begin with //", "mcp:npx -y some-server");
    return { label, kind: "scheme", url: label, forPersons: "runs a program on this machine" };
  },
  // A server offers only its current skills; the digest shows whether they are the locked ones.
  at: (source) => source,
  async open(options) {
    const { openMcpDriver } = await import("./mcp/mcp-driver.ts");
    return openMcpDriver(options);
  },
};
