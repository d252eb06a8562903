import { describe, expect, it } from "vitest";
import type { SecretSource } from "../../src/secrets/secret-source.ts";

/** What every adapter of the port `SecretSource` promises. `open` makes a source that has just these values. */
export function describeSecretSource(
  adapter: string,
  open: (values: Readonly<Record<string, string>>) => SecretSource | Promise<SecretSource>,
): void {
  const context = { skill: "a.b" };
  const read = async (values: Record<string, string>, name: string): Promise<string | undefined> =>
    (await open(values)).read(name, context);

  describe(`${adapter} keeps the contract of SecretSource`, () => {
    it("reads the value of a name", async () => {
      expect(await read({ API_KEY: "s3cr3t", OTHER: "x" }, "API_KEY")).toBe("s3cr3t");
    });

    it.each(["two words", "$HOME `id` $(id)", "a=b#c", "back\\slash", "-w", "ends in spaces  x", "quote's"])(
      "reads %j as it is",
      async (value) => {
        expect(await read({ API_KEY: value }, "API_KEY")).toBe(value);
      },
    );

    it("has no value for a name that is absent, or whose value is empty", async () => {
      expect(await read({ API_KEY: "s3cr3t" }, "API")).toBeUndefined();
      expect(await read({ API_KEY: "" }, "API_KEY")).toBeUndefined();
    });

    it.each([
      "",
      "-w",
      "--help",
      "a b",
      "A;B",
      "../A",
      "A\n",
      "A\0",
      "__proto__",
      "constructor",
      "toString",
      "A".repeat(129),
    ])("has no value for %j", async (name) => {
      expect(await read({ A: "s3cr3t" }, name)).toBeUndefined();
    });

    it("reads anew each time", async () => {
      const source = await open({ API_KEY: "s3cr3t" });
      expect(await Promise.all([source.read("API_KEY", context), source.read("API_KEY", context)])).toEqual([
        "s3cr3t",
        "s3cr3t",
      ]);
    });
  });
}
