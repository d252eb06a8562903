import { describeApprovingAgent } from "./approving-agent.ts";
import { claude } from "./real-agents.ts";

describeApprovingAgent(claude);
