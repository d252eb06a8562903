import { describe, expect, it } from "vitest";
import type { Machine } from "../../src/skills/environment.ts";

/** A machine with `python3` and the variable A_KEY. */
export type OpenMachine = () => Machine | Promise<Machine>;

/** The contract of `Machine`, run by every adapter. */
export function describeMachine(adapter: string, open: OpenMachine): void {
  describe(`${adapter} implements the Machine contract`, () => {
    it("finds a command on PATH, by an absolute path", async () => {
      const found = (await open()).find("python3");
      expect(found?.path).toMatch(/^\/.*\/python3$/);
    });

    it("does not find a command that is not there", async () => {
      expect((await open()).find("absent")).toBeUndefined();
    });

    it.each(["", ".", "..", "../python3", "/bin/sh", "a b", "-x", "python3\0", "__proto__", "constructor"])(
      "does not look for %j, which is no name of a command",
      async (name) => {
        expect((await open()).find(name)).toBeUndefined();
      },
    );

    it("knows which variables have a value", async () => {
      const machine = await open();
      expect([machine.hasVariable("A_KEY"), machine.hasVariable("ABSENT_KEY")]).toEqual([true, false]);
    });
  });
}
