import * as z from "zod";
import { commitForm, lists, policyLimits, settings } from "./policy-file.ts";
import { maxSignerLength } from "../../../skills/signature.ts";
import { digestForm } from "../../../base/text/content.ts";

/*
 * The schema of a policy file for editors: `schema/policy.json` is generated from it. `checkPolicy` validates policies instead: it knows
 * positions and more rules, and loads no library.
 */

const text = z.string().min(1).max(policyLimits.entryLength);
const entries = z.array(text).max(policyLimits.entries);

const capabilities = z
  .strictObject({
    network: entries.describe("Origins as the skill asks for them, such as https://api.example.com.").optional(),
    secrets: entries.describe("Names of secrets whose values may be read.").optional(),
    uses: entries.describe("Secrets that may be sent to a host, such as GH_TOKEN@api.github.com.").optional(),
    project: z.enum(["none", "read", "write"]).optional(),
    isolation: z.literal("none").describe("Its code may run without a sandbox.").optional(),
  })
  .describe("What is granted beyond the sandbox.");

const grant = z.union([
  z.strictObject({
    skill: text,
    digest: z.string().regex(digestForm).describe("As acp-skills show prints it."),
    capabilities: capabilities.optional(),
  }),
  z.strictObject({
    source: z.string().regex(/^https?:\/\/[^/\s]/),
    commit: z.string().regex(commitForm),
    skill: text.describe("A pattern. Default: all skills of the source.").optional(),
    capabilities: capabilities.optional(),
  }),
]);

const wholeNumber = (max: number): z.ZodType => z.int().min(0).max(max);

const ofSettings = Object.entries(settings).map(([name, { values, about }]) => [
  name,
  (typeof values[0] === "number" ? wholeNumber(values.length - 1) : z.literal([...values])).describe(about).optional(),
]);

const ofLists = Object.entries(lists).map(([name, { about }]) => [
  name,
  z.strictObject({ allow: entries.optional(), deny: entries.optional() }).describe(about).optional(),
]);

const signer = z.union([
  z.strictObject({ identity: z.string().min(1).max(maxSignerLength), issuer: z.string().min(1).max(maxSignerLength) }),
  z.strictObject({ key: z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}$/) }),
]);

const demand = z.strictObject({
  source: text.describe('As in "sources", or * for all.'),
  accept: z.array(signer).max(policyLimits.entries).describe("In an identity, * stands for any characters."),
});

/** `acp-skills.policy.json`. */
export const policySchema = z.strictObject({
  $schema: z.string().optional(),
  ...(Object.fromEntries([...ofSettings, ...ofLists]) as Readonly<Record<string, z.ZodType>>),
  signers: z
    .array(demand)
    .max(policyLimits.entries)
    .describe("Who must have signed the skills of a source, for them to be installed and run.")
    .optional(),
  grants: z
    .array(grant)
    .max(policyLimits.grants)
    .describe("What is approved beforehand. The policy of a project cannot grant anything.")
    .optional(),
});
