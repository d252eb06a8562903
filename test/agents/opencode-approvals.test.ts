import { describeApprovingAgent } from "./approving-agent.ts";
import { opencode } from "./real-agents.ts";

describeApprovingAgent(opencode);
