import { expect, test } from "vitest";
import { firstOf, memorySecrets } from "../../src/runtime/secrets.ts";
import { describeSecretSource } from "../contract/secret-source.ts";

describeSecretSource("the first of several", (values) =>
  firstOf([memorySecrets({ UNUSED: "x" }), memorySecrets(values)]),
);

const context = { skill: "a.b" };

test("returns the value of the first source that has one, without querying later sources", async () => {
  const asked: string[] = [];
  const later = {
    read: (name: string) => {
      asked.push(name);
      return Promise.resolve("later");
    },
  };
  const source = firstOf([memorySecrets({ A: "first" }), later]);
  expect(await source.read("A", context)).toBe("first");
  expect(await source.read("B", context)).toBe("later");
  expect(asked).toEqual(["B"]);
});

test("rejects if a source fails, instead of trying the next one", async () => {
  const locked = { read: () => Promise.reject(new Error("locked")) };
  await expect(firstOf([locked, memorySecrets({ A: "x" })]).read("A", context)).rejects.toThrow("locked");
});

test("returns undefined without sources", async () => {
  expect(await firstOf([]).read("A", context)).toBeUndefined();
});

describeSecretSource("memory", (values) => memorySecrets(values));

test("reads the current value of an environment variable on each call", async () => {
  const source = memorySecrets(process.env);
  process.env["ACP_SKILLS_TEST_SECRET"] = "s3cr3t";
  expect(await source.read("ACP_SKILLS_TEST_SECRET", { skill: "a.b" })).toBe("s3cr3t");
  delete process.env["ACP_SKILLS_TEST_SECRET"];
  expect(await source.read("ACP_SKILLS_TEST_SECRET", { skill: "a.b" })).toBeUndefined();
});
