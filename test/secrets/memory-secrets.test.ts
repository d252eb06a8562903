import { expect, test } from "vitest";
import { memorySecrets } from "../../src/secrets/memory-secrets.ts";
import { describeSecretSource } from "../contract/secret-source.ts";

describeSecretSource("memory", (values) => memorySecrets(values));

test("reads the current value of an environment variable on each call", async () => {
  const source = memorySecrets(process.env);
  process.env["ACP_SKILLS_TEST_SECRET"] = "s3cr3t";
  expect(await source.read("ACP_SKILLS_TEST_SECRET", { skill: "a.b" })).toBe("s3cr3t");
  delete process.env["ACP_SKILLS_TEST_SECRET"];
  expect(await source.read("ACP_SKILLS_TEST_SECRET", { skill: "a.b" })).toBeUndefined();
});
