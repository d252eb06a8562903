import path from "node:path";
import type { Surroundings } from "../editor.ts";
import { commandAndArgs, openJsonEditor } from "../json-editor.ts";
import { withSkills } from "./agent-names.ts";
import { configDirectory, roamingDirectory } from "./platform-places.ts";

const products = ["Code", "Code - Insiders", "VSCodium", "Cursor"] as const;

function productDirectory(where: Surroundings, product: string): string {
  if (where.platform === "win32") return roamingDirectory(where, product);
  if (where.platform === "darwin") return path.join(where.home, "Library", "Application Support", product);
  return configDirectory(where, product);
}

/**
 * Extensions that are ACP clients: `acp.agents` is that of formulahendry.acp-client, `agent_servers` that of strato-space's ACP,
 * `vscodeAcp.agents` (a list) that of foxweimin.vscode-acp-client.
 */
export const vscode = openJsonEditor({
  title: "VS Code",
  places: (where) => products.map((product) => path.join(productDirectory(where, product), "User", "settings.json")),
  readsAll: true,
  lenient: true,
  holders: ["acp.agents", "agent_servers", "vscodeAcp.agents"],
  form: commandAndArgs,
  blank: {},
  nameFor: withSkills,
  next: "Connect to this agent in the panel of the ACP extension, and type /.",
});
