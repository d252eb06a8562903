import type { MountRoutes } from "../http-door.ts";

type LoadRoutes = () => Promise<MountRoutes>;

const health: LoadRoutes = async () => (await import("../telemetry/health-routes.ts")).mountHealth;
const metrics: LoadRoutes = async () => (await import("../telemetry/metrics-route.ts")).mountMetrics;
const events: LoadRoutes = async () => (await import("../events/mount-events.ts")).mountEvents;
const openApi: LoadRoutes = async () => (await import("../openapi/mount-openapi.ts")).mountOpenApi;
const sharing: LoadRoutes = async () => (await import("../sharing/mount-sharing.ts")).mountSharing;
const invocation: LoadRoutes = async () => (await import("../sharing/invocation/mount-invocation.ts")).mountInvocation;
const agentSkills: LoadRoutes = async () => (await import("../agent-skills/mount-agent-skills.ts")).mountAgentSkills;
const plugins: LoadRoutes = async () => (await import("../plugins/mount-plugins.ts")).mountPlugins;

/** Every route besides `/rpc` and `/mcp`, by concern; loaded when the server is opened. */
export const routes: readonly LoadRoutes[] = [
  health,
  metrics,
  events,
  openApi,
  sharing,
  invocation,
  agentSkills,
  plugins,
];
