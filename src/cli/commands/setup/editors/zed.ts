import path from "node:path";
import type { SetupEnvironment } from "../editor.ts";
import { commandAndArgs, createJsonEditor } from "../json-editor.ts";
import { nameWithSkills } from "./agent-names.ts";
import { configDirectory, roamingDirectory } from "./platform-places.ts";

/** Agents of the ACP registry that Zed can start itself, by their ids there, and what starts them without Zed. */
const registry: Readonly<Record<string, { readonly name: string; readonly words: readonly string[] }>> = {
  "claude-acp": { name: "Claude", words: ["npx", "-y", "@agentclientprotocol/claude-agent-acp"] },
  "codex-acp": { name: "Codex", words: ["npx", "-y", "@agentclientprotocol/codex-acp"] },
  gemini: { name: "Gemini", words: ["npx", "-y", "@google/gemini-cli", "--acp"] },
  opencode: { name: "opencode", words: ["npx", "-y", "opencode-ai", "acp"] },
  "github-copilot-cli": { name: "Copilot", words: ["npx", "-y", "@github/copilot", "--acp"] },
  "qwen-code": { name: "Qwen Code", words: ["npx", "-y", "@qwen-code/qwen-code", "--acp"] },
  "pi-acp": { name: "pi", words: ["npx", "-y", "pi-acp"] },
};

/** Keys of the agents that were built into Zed before it had the registry. */
const builtIn: Readonly<Record<string, string>> = { claude: "claude-acp", codex: "codex-acp", gemini: "gemini" };

/** `agent_servers` of Zed's user settings; `type` is `custom`, `registry` or `extension`, and was absent in older versions. */
export const zed = createJsonEditor({
  title: "Zed",
  places(where: SetupEnvironment) {
    const directory = where.platform === "win32" ? roamingDirectory(where, "Zed") : configDirectory(where, "zed");
    return [path.join(directory, "settings.json")];
  },
  lenient: true,
  holders: ["agent_servers"],
  form: commandAndArgs,
  blank: { type: "custom" },
  nameFor: nameWithSkills,
  beside(name, { type }) {
    const known = registry[type === undefined ? (builtIn[name] ?? name) : name];
    if (known !== undefined && type !== "extension") return { name: `${known.name} with skills`, words: known.words };
    return "is started by Zed itself; give its command: acp-skills setup zed -- AGENT";
  },
  next: "Open a new thread in Zed with this agent, and type /.",
});
