import { opencode } from "./real-agents.ts";
import { describeWrappedAgent } from "./wrapped-agent.ts";

describeWrappedAgent(opencode);
