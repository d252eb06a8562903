import { describe, expect, it } from "vitest";
import type { SecretSource } from "../../src/runtime/secrets.ts";

/** The contract of `SecretSource`, run by every adapter. `open` returns a source that contains exactly these values. */
export function describeSecretSource(
  adapter: string,
  open: (values: Readonly<Record<string, string>>) => SecretSource | Promise<SecretSource>,
): void {
  const skill = "a.b";
  const read = async (values: Record<string, string>, name: string): Promise<string | undefined> =>
    (await open(values))(name, skill);

  describe(`${adapter} implements the SecretSource contract`, () => {
    it("returns the value of a name", async () => {
      expect(await read({ API_KEY: "s3cr3t", OTHER: "x" }, "API_KEY")).toBe("s3cr3t");
    });

    it.each(["two words", "$HOME `id` $(id)", "a=b#c", "back\\slash", "-w", "ends in spaces  x", "quote's"])(
      "returns the value %j unchanged",
      async (value) => {
        expect(await read({ API_KEY: value }, "API_KEY")).toBe(value);
      },
    );

    it("returns undefined for a missing name and for an empty value", async () => {
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
    ])("returns undefined for the name %j", async (name) => {
      expect(await read({ A: "s3cr3t" }, name)).toBeUndefined();
    });

    it("returns the same value on repeated reads", async () => {
      const source = await open({ API_KEY: "s3cr3t" });
      expect(await Promise.all([source("API_KEY", skill), source("API_KEY", skill)])).toEqual(["s3cr3t", "s3cr3t"]);
    });
  });
}
