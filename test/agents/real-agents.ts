import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { install, modernNode, modulesOf } from "./install.ts";

/** How to start a real agent with the mock model and the given home only. */
export interface RealAgent {
  /** Its name in tests. */
  readonly name: string;
  /** One of its own commands. */
  readonly ownCommand: string;
  /** The folder of a project whose skills it lists as commands itself. */
  readonly ownSkills: string;
  /** Its tool for shell commands, as its model calls it. */
  readonly shell?: string;
  /** How a turn ends when the editor cancels its request by `$/cancel_request`, which not every agent supports. */
  readonly endOfGivenUp: "cancelled" | "end_turn";
  /** Its forks do not have the servers of the session's request. */
  readonly forksWithoutServers?: true;
  /** It requests permission before it reports a call's input, so that requests that depend on the input go to the user. */
  readonly asksBeforeInput?: true;
  /** The command line; installs the agent if needed. */
  command(): Promise<readonly string[]>;
  /** Environment variables in addition to HOME and PATH. */
  environment(options: { modelUrl: string; home: string }): Record<string, string>;
  /** Files that it needs in its home, with their contents. */
  files?(options: { modelUrl: string }): Readonly<Record<string, string>>;
}

/** Writes the files that an agent needs in its home. */
export async function prepareHome(
  agent: RealAgent,
  { modelUrl, home }: { modelUrl: string; home: string },
): Promise<void> {
  for (const [path, text] of Object.entries(agent.files?.({ modelUrl }) ?? {})) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
}

export const claude: RealAgent = {
  name: "Claude",
  ownCommand: "init",
  ownSkills: ".claude/skills",
  shell: "Bash",
  endOfGivenUp: "cancelled",
  command: async () => [
    await modernNode(),
    join(await install("claude"), "@agentclientprotocol/claude-agent-acp/dist/index.js"),
  ],
  environment: ({ modelUrl, home }) => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "mock",
    CLAUDE_CONFIG_DIR: join(home, "claude"),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // Asked with the same tools after a turn, which would take the calls that are planned for the next one.
    CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false",
    IS_SANDBOX: "1",
  }),
  // Its own default lets another model judge each call, which the mock is not.
  files: () => ({ "claude/settings.json": JSON.stringify({ permissions: { defaultMode: "default" } }) }),
};

/** Configuration of opencode and of what was made of it: which of our tools it asks about, and the model. */
function opencodeConfig(modelUrl: string, { asks = true } = {}): string {
  return JSON.stringify({
    model: "mock/mock",
    small_model: "mock/mock",
    share: "disabled",
    ...(asks && { permission: { "skills_*": "ask", bash: "ask" } }),
    enabled_providers: ["mock"],
    provider: {
      mock: {
        npm: "@ai-sdk/openai-compatible",
        name: "Mock",
        options: { baseURL: `${modelUrl}/v1`, apiKey: "mock" },
        models: { mock: { name: "Mock" } },
      },
    },
  });
}

export const opencode: RealAgent = {
  name: "opencode",
  ownCommand: "init",
  ownSkills: ".agents/skills",
  shell: "bash",
  endOfGivenUp: "end_turn",
  asksBeforeInput: true,
  command: async () => [join(await install("opencode"), "opencode-ai/bin/opencode.exe"), "acp"],
  environment: ({ modelUrl }) => ({
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_CONFIG_CONTENT: opencodeConfig(modelUrl),
  }),
};

/** Without settings of permissions, as it is delivered. */
export const opencodeByDefault: RealAgent = {
  ...opencode,
  environment: (place) => ({
    ...opencode.environment(place),
    OPENCODE_CONFIG_CONTENT: opencodeConfig(place.modelUrl, { asks: false }),
  }),
};

export const kilo: RealAgent = {
  name: "kilo",
  ownCommand: "init",
  ownSkills: ".agents/skills",
  shell: "bash",
  endOfGivenUp: "end_turn",
  asksBeforeInput: true,
  command: async () => [
    join(await install("kilo"), `@kilocode/cli-${process.platform}-${process.arch}/bin/kilo`),
    "acp",
  ],
  environment: ({ modelUrl }) => ({
    KILO_DISABLE_MODELS_FETCH: "1",
    KILO_DISABLE_AUTOUPDATE: "1",
    KILO_DISABLE_LSP_DOWNLOAD: "1",
    KILO_CONFIG_CONTENT: opencodeConfig(modelUrl),
  }),
};

export const codex: RealAgent = {
  name: "Codex",
  ownCommand: "status",
  ownSkills: ".agents/skills",
  endOfGivenUp: "cancelled",
  command: async () => [
    await modernNode(),
    join(await install("codex"), "@agentclientprotocol/codex-acp/dist/index.js"),
  ],
  environment: ({ modelUrl, home }) => ({
    CODEX_HOME: join(home, ".codex"),
    NO_BROWSER: "1",
    MOCK_KEY: "mock",
    MODEL_PROVIDER: "mock",
    CODEX_CONFIG: JSON.stringify({
      model: "gpt-5.2",
      model_provider: "mock",
      model_providers: {
        mock: { name: "Mock", base_url: `${modelUrl}/v1`, env_key: "MOCK_KEY", wire_api: "responses" },
      },
    }),
  }),
  files: () => ({ ".codex/config.toml": "" }),
};

export const codexOld: RealAgent = {
  name: "Codex of Zed",
  ownCommand: "status",
  ownSkills: ".agents/skills",
  endOfGivenUp: "cancelled",
  command: async () => [
    await modernNode(),
    join(await install("codexOld"), "@zed-industries/codex-acp/bin/codex-acp.js"),
  ],
  environment: ({ home }) => ({ CODEX_HOME: join(home, ".codex"), NO_BROWSER: "1", MOCK_KEY: "mock" }),
  files: ({ modelUrl }) => ({
    ".codex/config.toml": [
      'model = "gpt-5.2"\nmodel_provider = "mock"\n[model_providers.mock]\nname = "Mock"',
      `base_url = "${modelUrl}/v1"\nenv_key = "MOCK_KEY"\nwire_api = "responses"\n`,
    ].join("\n"),
  }),
};

export const gemini: RealAgent = {
  name: "Gemini CLI",
  ownCommand: "init",
  ownSkills: ".agents/skills",
  endOfGivenUp: "cancelled",
  command: async () => [
    await modernNode(),
    join(await install("gemini"), "@google/gemini-cli/bundle/gemini.js"),
    "--acp",
  ],
  environment: ({ modelUrl }) => ({
    GEMINI_API_KEY: "mock",
    GOOGLE_GEMINI_BASE_URL: modelUrl,
    GEMINI_MODEL: "gemini-2.5-pro",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
  }),
  files: () => ({
    ".gemini/settings.json": JSON.stringify({
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }),
  }),
};

export const qwen: RealAgent = {
  name: "qwen-code",
  ownCommand: "init",
  ownSkills: ".qwen/skills",
  endOfGivenUp: "cancelled",
  command: async () => [await modernNode(), join(await install("qwen"), "@qwen-code/qwen-code/cli-entry.js"), "--acp"],
  environment: ({ modelUrl }) => ({
    OPENAI_API_KEY: "mock",
    OPENAI_BASE_URL: `${modelUrl}/v1`,
    OPENAI_MODEL: "mock",
  }),
  files: () => ({
    ".qwen/settings.json": JSON.stringify({
      security: { auth: { selectedType: "openai" } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true },
      // Asked with the same tools after a turn, which would take the calls that are planned for the next one.
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false },
      ui: { enableFollowupSuggestions: false },
    }),
  }),
};

export const copilot: RealAgent = {
  name: "Copilot",
  ownCommand: "init",
  ownSkills: ".agents/skills",
  endOfGivenUp: "cancelled",
  command: async () => [
    join(await install("copilot"), `@github/copilot-${process.platform}-${process.arch}/copilot`),
    "--acp",
  ],
  environment: ({ modelUrl }) => ({
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
    COPILOT_PROVIDER_API_KEY: "mock",
    COPILOT_MODEL: "mock",
  }),
};

export const kimi: RealAgent = {
  name: "Kimi Code",
  ownCommand: "compact",
  ownSkills: ".agents/skills",
  endOfGivenUp: "cancelled",
  forksWithoutServers: true,
  command: async () => [await modernNode(), join(await install("kimi"), "@moonshot-ai/kimi-code/dist/main.mjs"), "acp"],
  environment: ({ modelUrl }) => ({
    KIMI_MODEL_NAME: "mock",
    KIMI_MODEL_API_KEY: "mock",
    KIMI_MODEL_PROVIDER_TYPE: "openai",
    KIMI_MODEL_BASE_URL: `${modelUrl}/v1`,
  }),
};

export const pi: RealAgent = {
  name: "pi",
  ownCommand: "compact",
  ownSkills: ".agents/skills",
  endOfGivenUp: "cancelled",
  command: async () => [await modernNode(), join(await install("pi"), "pi-acp/dist/index.js")],
  environment: () => ({
    PI_OFFLINE: "1",
    PI_SKIP_VERSION_CHECK: "1",
    PI_TELEMETRY: "0",
    // The adapter finds the agent's program, and a recent Node, only through PATH.
    PATH: [
      join(modulesOf("pi"), ".bin"),
      join(modulesOf("node"), `node-${process.platform}-${process.arch}`, "bin"),
      process.env["PATH"],
    ].join(delimiter),
  }),
  files: ({ modelUrl }) => ({
    ".pi/agent/models.json": JSON.stringify({
      providers: {
        mock: {
          baseUrl: `${modelUrl}/v1`,
          api: "openai-completions",
          apiKey: "mock",
          models: [{ id: "mock" }],
        },
      },
    }),
    ".pi/agent/settings.json": JSON.stringify({ defaultProvider: "mock", defaultModel: "mock", quietStartup: true }),
  }),
};
