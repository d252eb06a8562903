import { claude } from "./real-agents.ts";
import { describeWrappedAgent } from "./wrapped-agent.ts";

describeWrappedAgent(claude);
