/** Of `execute_skill`, what an invocation may say. */
export const executionParameters: readonly string[] = ["args", "version", "timeout_ms"];
