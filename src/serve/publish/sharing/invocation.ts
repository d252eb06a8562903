export { mountInvocation } from "./invocation/mount-invocation.ts";
export { executionParameters } from "./invocation/executions.ts";
