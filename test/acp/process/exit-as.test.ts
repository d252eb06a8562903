import { expect, test } from "vitest";
import { exitAs } from "../../../src/acp/process/exit-as.ts";

test("the agent's exit code is ours", () => {
  const killed: unknown[] = [];
  const self = { pid: 7, exitCode: 0, kill: (...call: unknown[]) => killed.push(call) };
  exitAs({ exitCode: 3 }, self);
  expect([self.exitCode, killed]).toEqual([3, []]);
});

test("death by signal is our death too", () => {
  const killed: unknown[] = [];
  const self = { pid: 7, exitCode: 0, kill: (...call: unknown[]) => killed.push(call) };
  exitAs({ exitCode: 143, signal: "SIGTERM" }, self);
  expect([self.exitCode, killed]).toEqual([143, [[7, "SIGTERM"]]]);
});

test("SIGUSR1, which opens Node's debugger, is an exit code only", () => {
  const killed: unknown[] = [];
  const self = { pid: 7, exitCode: 0, kill: (...call: unknown[]) => killed.push(call) };
  exitAs({ exitCode: 138, signal: "SIGUSR1" }, self);
  expect([self.exitCode, killed]).toEqual([138, []]);
});
