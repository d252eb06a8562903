import { readFileSync, readdirSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { jsonSchemas } from "../../.config/json-schemas.js";
import { configSchema } from "../../src/serve/config/config-schema.ts";
import { manifestSchema } from "../../src/skills/manifest/manifest-schema.ts";
import { checkPolicy } from "../../src/runtime/trust/policy/check-policy.ts";
import { policySchema } from "../../src/runtime/trust/policy/policy-schema.ts";
import { availableSkillSchema, sessionUpdateSchema } from "../../src/wire/available-skill.ts";

const folder = new URL("../../schema/", import.meta.url);
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
const compiled = (file: string) => ajv.compile(JSON.parse(readFileSync(new URL(file, folder), "utf8")) as object);

test("schema/ contains exactly what `npm run schema` generates from the zod schemas", () => {
  const committed = Object.fromEntries(
    readdirSync(folder).filter((file) => file.endsWith(".json")).map((file) => [file, readFileSync(new URL(file, folder), "utf8")]),
  );
  expect(committed).toEqual(jsonSchemas());
});

const skill = { name: "pdf", description: "Reads PDF files." };

test.each([
  [skill, true],
  [{ ...skill, license: "MIT", compatibility: "x", allowedTools: ["Read"], _meta: { author: "a" } }, true],
  [{ ...skill, future: 1 }, true],
  [{ ...skill, name: "a--b" }, false],
  [{ ...skill, name: "-a" }, false],
  [{ ...skill, name: "A" }, false],
  [{ ...skill, name: "a".repeat(64) }, true],
  [{ ...skill, name: "a".repeat(65) }, false],
  [{ ...skill, description: "" }, false],
  [{ ...skill, description: " \n" }, false],
  [{ ...skill, description: "𝒳".repeat(1024) }, true],
  [{ ...skill, description: "𝒳".repeat(1025) }, false],
  [{ ...skill, compatibility: "c".repeat(501) }, false],
  [{ ...skill, allowedTools: "Read" }, false],
  [{ name: "pdf" }, false],
])("the JSON Schema and the zod schema agree on the AvailableSkill %j", (value, valid) => {
  expect(availableSkillSchema.safeParse(value).success).toBe(valid);
  expect(compiled("AvailableSkill.json")(value)).toBe(valid);
});

const caller = { name: "ci", token: "env:CI_TOKEN" };

test.each([
  [{}, true],
  [{ $schema: "x", callers: [caller], access: { default: "public", private: ["rows.*"] } }, true],
  [{ callers: [{ ...caller, token: "hunter2" }] }, false],
  [{ callers: [{ name: "ci" }] }, false],
  [{ acess: {} }, false],
  [{ limits: { batch: 21 } }, false],
  [{ anonymous: { tools: ["list_skill"] } }, false],
])("the JSON Schema and the zod schema agree on the configuration %j", (value, valid) => {
  expect(configSchema.safeParse(value).success).toBe(valid);
  expect(compiled("acp-skills.serve.json")(value)).toBe(valid);
});

const manifest = { name: "pdf.read", version: "1.0.0", description: "Reads PDF files.", kind: "instruction" };
const runtime = { language: "python", entrypoint: "main.py" };
const remote = { endpoint: "https://example.com/skills/translate/executions", secret: "COM_EXAMPLE_API_KEY" };

test.each([
  [manifest, true],
  [{ ...manifest, future: 1 }, true],
  [{ ...manifest, description: " " }, false],
  [{ ...manifest, name: "pdf-read" }, false],
  [{ ...manifest, version: "1.0" }, false],
  [{ ...manifest, runtime }, false],
  [{ ...manifest, kind: "action" }, false],
  [{ ...manifest, kind: "action", runtime }, true],
  [{ ...manifest, kind: "action", runtime: { entrypoint: "main.py" } }, false],
  [{ ...manifest, remote }, false],
  [{ ...manifest, kind: "action", remote }, true],
  [{ ...manifest, kind: "action", remote: { endpoint: "http://127.0.0.1:8080/x?y=1", header: "x-key" } }, true],
  [{ ...manifest, kind: "action", remote, runtime }, false],
  [{ ...manifest, kind: "action", remote, permissions: { network: ["https://example.org"] } }, false],
  [{ ...manifest, kind: "action", remote: { endpoint: "http://example.com/x" } }, false],
  [{ ...manifest, kind: "action", remote: { endpoint: "https://*.example.com/x" } }, false],
  [{ ...manifest, kind: "action", remote: { endpoint: "https://me@example.com/x" } }, false],
  [{ ...manifest, kind: "action", remote: { endpoint: "https://example.com/x#y" } }, false],
  [{ ...manifest, kind: "action", remote: { ...remote, header: "host" } }, false],
  [{ ...manifest, kind: "action", remote: { ...remote, header: "Authorization" } }, false],
])("the JSON Schema and the zod schema agree on the manifest %j", (value, valid) => {
  expect(manifestSchema.safeParse(value).success).toBe(valid);
  expect(compiled("skill.toml.json")(value)).toBe(valid);
});

test.each([
  [{ sessionUpdate: "available_skills_update", availableSkills: [skill] }, true],
  [{ sessionUpdate: "available_skills_update" }, false],
  [{ sessionUpdate: "available_skills_update", availableSkills: [{ name: "x" }] }, false],
  [{ sessionUpdate: "plan", entries: [] }, true],
  [{ sessionUpdate: "_other", anything: 1 }, true],
  [{ availableSkills: [skill] }, false],
])("the extended SessionUpdate validates its own kind and accepts every other one: %j", (value, valid) => {
  expect(sessionUpdateSchema.safeParse(value).success).toBe(valid);
  expect(compiled("SessionUpdate.json")(value)).toBe(valid);
});

const digest = `sha256:${"0".repeat(64)}`;

test.each([
  [{}, true],
  [{ $schema: "policy.json", runs: "ask", prompts: false, project: "read" }, true],
  [{ skills: { allow: ["acme.*"], deny: [] } }, true],
  [{ grants: [{ skill: "a", digest, capabilities: { network: ["https://x.org"], isolation: "none" } }] }, true],
  [{ grants: [{ source: "https://x.org", commit: "0".repeat(40) }] }, true],
  [{ runs: "never" }, false],
  [{ prompts: "no" }, false],
  [{ skill: {} }, false],
  [{ skills: [] }, false],
  [{ skills: { denied: [] } }, false],
  [{ skills: { deny: [1] } }, false],
  [{ grants: [{ skill: "a" }] }, false],
  [{ grants: [{ skill: "a", digest: "sha256:0" }] }, false],
  [{ grants: [{ skill: "a", digest, source: "https://x.org" }] }, false],
  [[], false],
])("the JSON Schema, the zod schema and the check agree on the policy %j", (value, valid) => {
  expect(policySchema.safeParse(value).success).toBe(valid);
  expect(compiled("policy.json")(value)).toBe(valid);
  expect(checkPolicy("p.json", JSON.stringify(value), "/home/ada").policy !== undefined).toBe(valid);
});

test("the example of a policy in schema/README.md is valid", () => {
  const readme = readFileSync(new URL("README.md", folder), "utf8");
  const [, example = ""] = /```json\n([^]*?)```/.exec(readme) ?? [];
  expect(checkPolicy("p.json", example, "/home/ada").problems).toEqual([]);
  expect(compiled("policy.json")(JSON.parse(example))).toBe(true);
});

test("schema/README.md documents every key of a policy", () => {
  const readme = readFileSync(new URL("README.md", folder), "utf8");
  for (const key of Object.keys(policySchema.shape)) if (key !== "$schema") expect(readme).toContain(`\`${key}\``);
});
