import type { ToolName } from "../../runtime/tool.ts";
import type { CallerLimits, ServeConfig, ServerLimits } from "./serve-config.ts";

export const defaultCallerLimits: CallerLimits = { requestsPerMinute: 1_200, concurrentRequests: 64 };

export const defaultAnonymousLimits: CallerLimits = { requestsPerMinute: 300, concurrentRequests: 8 };

/** What anybody may call: what reads, and runs of public skills, which have no permissions. */
const defaultAnonymousTools: readonly ToolName[] = [
  "list_skills",
  "describe_skill",
  "read_skill_file",
  "execute_skill",
  "load_skills_protocol_guide",
];

export const defaultServerLimits: ServerLimits = {
  connections: 4_096,
  requestBytes: 16 * 1024 * 1024,
  headerBytes: 16 * 1024,
  batch: 20,
  headerSeconds: 10,
  requestSeconds: 60,
  shutdownSeconds: 10,
  eventStreams: 256,
  unreadBytes: 48 * 1024 * 1024,
};

/** Without a configuration: everything is private, and nobody but those with a token sees anything. */
export const defaultConfig: ServeConfig = {
  provider: { name: "acp-skills", domain: "local" },
  publicUrl: undefined,
  access: { default: "private", public: [], restricted: [], private: [] },
  capabilityTypes: {},
  callers: [],
  anonymous: { tools: defaultAnonymousTools, limits: defaultAnonymousLimits },
  shares: [],
  sources: [],
  limits: defaultServerLimits,
};
