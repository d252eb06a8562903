import { expect, test } from "vitest";
import { exitAs } from "../../../src/acp/process/exit-as.ts";

test("exits with the agent's exit code", () => {
  const killed: unknown[] = [];
  const self = { pid: 7, exitCode: 0, kill: (...call: unknown[]) => killed.push(call) };
  exitAs({ exitCode: 3 }, self);
  expect([self.exitCode, killed]).toEqual([3, []]);
});

test("kills itself by the signal that killed the agent", () => {
  const killed: unknown[] = [];
  const self = { pid: 7, exitCode: 0, kill: (...call: unknown[]) => killed.push(call) };
  exitAs({ exitCode: 143, signal: "SIGTERM" }, self);
  expect([self.exitCode, killed]).toEqual([143, [[7, "SIGTERM"]]]);
});

test("only sets the exit code for SIGUSR1, which would open Node's debugger", () => {
  const killed: unknown[] = [];
  const self = { pid: 7, exitCode: 0, kill: (...call: unknown[]) => killed.push(call) };
  exitAs({ exitCode: 138, signal: "SIGUSR1" }, self);
  expect([self.exitCode, killed]).toEqual([138, []]);
});
