import { opencode } from "./real-agents.ts";
import { describeRunningAgent } from "./running-agent.ts";

describeRunningAgent(opencode);
