import path from "node:path";
import type { SetupEnvironment } from "../editor.ts";
import { commandAndArgs, createJsonEditor } from "../json-editor.ts";
import { nameWithSkills } from "./agent-names.ts";
import { configDirectory, xdgDataDirectory, localDirectory, roamingDirectory } from "./platform-places.ts";

const products = ["Code", "Code - Insiders", "Code - OSS", "VSCodium", "Cursor", "Windsurf"] as const;
/** On a machine to which VS Code is connected. */
const remotes = [".vscode-server", ".vscode-server-insiders"] as const;

function productDirectory(where: SetupEnvironment, product: string): string {
  if (where.platform === "win32") return roamingDirectory(where, product);
  if (where.platform === "darwin") return path.join(where.home, "Library", "Application Support", product);
  return configDirectory(where, product);
}

/** The directories of a person's settings, those that are in use first. */
function directories(where: SetupEnvironment): readonly string[] {
  const { home, platform, exists } = where;
  const served =
    platform === "win32"
      ? path.join(localDirectory(where, "code-server"), "Data")
      : xdgDataDirectory(where, "code-server");
  const all = [
    ...[...products.map((product) => productDirectory(where, product)), served].map((one) => path.join(one, "User")),
    ...remotes.map((remote) => path.join(home, remote, "data", "Machine")),
  ];
  const rank = (directory: string): number => [settingsIn(directory), directory].filter(exists).length;
  return all.toSorted((one, other) => rank(other) - rank(one));
}

function settingsIn(directory: string): string {
  return path.join(directory, "settings.json");
}

/**
 * Extensions that are ACP clients: `acp.agents` is that of formulahendry.acp-client, which has agents of its own and adds a person's to
 * them, `agent_servers` that of strato-space's ACP, `vscodeAcp.agents` (a list) that of foxweimin.vscode-acp-client.
 */
export const vscode = createJsonEditor({
  title: "VS Code",
  places: (where) => [...directories(where), path.join(where.cwd, ".vscode")].map(settingsIn),
  marks: directories,
  readsAll: true,
  hasDefaults: true,
  lenient: true,
  holders: ["acp.agents", "agent_servers", "vscodeAcp.agents"],
  form: commandAndArgs,
  blank: {},
  nameFor: nameWithSkills,
  next: "Connect to this agent in the panel of the ACP extension, and type /.",
});
