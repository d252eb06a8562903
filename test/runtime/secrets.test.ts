import { expect, test } from "vitest";
import { firstOf, memorySecrets } from "../../src/runtime/secrets.ts";
import { describeSecretSource } from "../contract/secret-source.ts";

describeSecretSource("the first of several", (values) =>
  firstOf([memorySecrets({ UNUSED: "x" }), memorySecrets(values)]),
);

const skill = "a.b";

test("returns the value of the first source that has one, without querying later sources", async () => {
  const asked: string[] = [];
  const later = (name: string): Promise<string> => {
    asked.push(name);
    return Promise.resolve("later");
  };
  const source = firstOf([memorySecrets({ A: "first" }), later]);
  expect(await source("A", skill)).toBe("first");
  expect(await source("B", skill)).toBe("later");
  expect(asked).toEqual(["B"]);
});

test("rejects if a source fails, instead of trying the next one", async () => {
  const locked = (): Promise<never> => Promise.reject(new Error("locked"));
  await expect(firstOf([locked, memorySecrets({ A: "x" })])("A", skill)).rejects.toThrow("locked");
});

test("returns undefined without sources", async () => {
  expect(await firstOf([])("A", skill)).toBeUndefined();
});

describeSecretSource("memory", (values) => memorySecrets(values));

test("reads the current value of an environment variable on each call", async () => {
  const source = memorySecrets(process.env);
  process.env["ACP_SKILLS_TEST_SECRET"] = "s3cr3t";
  expect(await source("ACP_SKILLS_TEST_SECRET", skill)).toBe("s3cr3t");
  delete process.env["ACP_SKILLS_TEST_SECRET"];
  expect(await source("ACP_SKILLS_TEST_SECRET", skill)).toBeUndefined();
});
