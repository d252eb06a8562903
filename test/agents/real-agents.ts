import { join } from "node:path";
import { install, modernNode } from "./install.ts";

/** How to start a real agent so that it knows no model but the mock, and no home but the given one. */
export interface RealAgent {
  /** What tests call it. */
  readonly name: string;
  /** A command of its own, there with and without us. */
  readonly ownCommand: string;
  /** Folder of a project whose skills it lists as commands itself, without us. */
  readonly ownSkills: string;
  /** How a turn ends when the editor gives its request up by `$/cancel_request`, which not every agent knows. */
  readonly endOfGivenUp: "cancelled" | "end_turn";
  /** Whether its editor is told what a tool prints while it runs: no agent passes MCP progress on, but Claude says whose call it is. */
  readonly tellsProgress: boolean;
  /** The command line, installed first where needed. */
  command(): Promise<readonly string[]>;
  /** What its environment needs besides HOME and PATH. */
  environment(options: { modelUrl: string; home: string }): Record<string, string>;
}

export const claude: RealAgent = {
  name: "Claude",
  ownCommand: "init",
  ownSkills: ".claude/skills",
  endOfGivenUp: "cancelled",
  tellsProgress: true,
  command: async () => [
    await modernNode(),
    join(await install("claude"), "@agentclientprotocol/claude-agent-acp/dist/index.js"),
  ],
  environment: ({ modelUrl, home }) => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "mock",
    CLAUDE_CONFIG_DIR: join(home, "claude"),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    IS_SANDBOX: "1",
  }),
};

export const opencode: RealAgent = {
  name: "opencode",
  ownCommand: "init",
  ownSkills: ".agents/skills",
  endOfGivenUp: "end_turn",
  tellsProgress: false,
  command: async () => [join(await install("opencode"), "opencode-ai/bin/opencode.exe"), "acp"],
  environment: ({ modelUrl }) => ({
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      model: "mock/mock",
      small_model: "mock/mock",
      share: "disabled",
      permission: { "skills_*": "ask" },
      enabled_providers: ["mock"],
      provider: {
        mock: {
          npm: "@ai-sdk/openai-compatible",
          name: "Mock",
          options: { baseURL: `${modelUrl}/v1`, apiKey: "mock" },
          models: { mock: { name: "Mock" } },
        },
      },
    }),
  }),
};
