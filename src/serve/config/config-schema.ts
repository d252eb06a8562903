import * as z from "zod";
import { isSkillsError } from "../../base/errors.ts";
import { parseSource } from "../../sources/source.ts";
import { parseGrant } from "../../wire/grant-text.ts";
import { maxWildcards } from "../../base/text/name-glob.ts";
import { accessPolicies } from "../../wire/skill-sharing.ts";
import { type ToolName, toolNames } from "../../wire/tools.ts";

/*
 * The form of the configuration of `acp-skills serve`, from which `schema/acp-skills.serve.json` is generated. A message of one line is
 * what is expected; one of two lines is what is wrong, and what to do.
 */

export const configLimits = { bytes: 1024 * 1024, callers: 1_000, entries: 250, sources: 100 } as const;

const pattern = z
  .string()
  .max(128)
  .regex(/^[a-z0-9*]+(?:[.-][a-z0-9*]+)*$/, "a name of a skill such as rows.clean or rows.*")
  .refine((text) => text.split("*").length - 1 <= maxWildcards, `a pattern with at most ${maxWildcards} wildcards`);
const patterns = z.array(pattern).max(configLimits.entries);

const tools = z.array(z.enum(toolNames as readonly [ToolName, ...ToolName[]])).max(toolNames.length);

const callerLimits = z.strictObject({
  requestsPerMinute: z.int().min(1).max(1_000_000).exactOptional(),
  concurrentRequests: z.int().min(1).max(10_000).describe("Requests at a time.").exactOptional(),
});

const callerName = z.string().regex(/^[a-z0-9-]{1,64}$/, "1 to 64 lower-case letters, digits and hyphens");

const token = z
  .string()
  .regex(
    /^(?:sha256:[0-9a-f]{64}|env:[A-Za-z_][A-Za-z0-9_]{0,127})$/,
    "neither the digest of a token nor env:NAME; a token in plain text is not accepted\n" +
      'Write "sha256:" and the digest of the token (printf %s "$TOKEN" | sha256sum), or "env:NAME". A new one: acp-skills serve --new-token.',
  )
  .describe("sha256: and the digest of the token, or env: and the name of the environment variable that holds it.");

const baseUrl = z
  .string()
  .max(2_048)
  .refine(isBaseUrl, "an http or https URL such as https://skills.example, without user, query and fragment");

export const callerSchema = z.strictObject({
  name: callerName.describe("Its blobs and runs belong to this name."),
  token,
  skills: patterns.describe("What it sees. Default: all skills.").optional(),
  tools: tools.describe("What it may call. Default: all tools.").optional(),
  grants: z
    .array(
      z
        .string()
        .max(512)
        .refine(
          (text) => parseGrant(text)?.form === "digest",
          "NAME@DIGEST or NAME@DIGEST:PERMISSION,… with the digest that acp-skills show prints",
        ),
    )
    .max(configLimits.entries)
    .describe("What runs of this caller may do: NAME@DIGEST[:PERMISSION,…]. Default: nothing beyond the sandbox.")
    .optional(),
  secrets: z
    .array(z.string().regex(/^\w{1,128}$/, "the name of a secret such as API_KEY"))
    .max(configLimits.entries)
    .describe("Names of secrets that runs of this caller may get. Default: none.")
    .optional(),
  limits: callerLimits.optional(),
});

const share = z.strictObject({
  name: callerName,
  token,
  skills: patterns.describe("What is in it. Default: all skills.").optional(),
});

const source = z.string().check(({ value, issues }) => {
  try {
    parseSource(value);
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    const [what = "", expected = "a source"] = error.message.split("; expected ");
    issues.push({ code: "custom", input: undefined, message: `${what}\nWrite ${expected}.` });
  }
});

const limits = z.strictObject({
  connections: z.int().min(1).max(65_535).exactOptional(),
  requestBytes: z.int().min(1_024).max(16 * 1_024 * 1_024).exactOptional(), // prettier-ignore
  headerBytes: z.int().min(1_024).max(64 * 1_024).exactOptional(), // prettier-ignore
  batch: z.int().min(1).max(20).describe("Calls in one JSON-RPC batch.").exactOptional(),
  headerSeconds: z.int().min(1).max(300).exactOptional(),
  requestSeconds: z.int().min(1).max(3_600).exactOptional(),
  shutdownSeconds: z.int().min(0).max(600).describe("How long runs may go on after a stop.").exactOptional(),
  eventStreams: z.int().min(0).max(10_000).exactOptional(),
  unreadBytes: z
    .int()
    .min(0)
    .describe("Of answers to clients without token; of one address or caller, half.")
    .exactOptional(),
});

/** The schema of the file of `acp-skills serve --config`. */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  provider: z
    .strictObject({ name: z.string().min(1).max(200), url: baseUrl.exactOptional() })
    .describe("Who publishes. The ids of skills start with the reversed domain of its url.")
    .optional(),
  url: baseUrl.describe("What people reach the server by. Default: where it listens.").optional(),
  access: z
    .strictObject({
      default: z.enum(accessPolicies).describe("Of skills that no list names. Default: private.").exactOptional(),
      public: patterns.exactOptional(),
      restricted: patterns.exactOptional(),
      private: patterns.exactOptional(),
    })
    .describe("Who may see and invoke which skills; of several lists that name a skill the strictest counts.")
    .optional(),
  capabilityTypes: z
    .strictObject({
      plugin: patterns.exactOptional(),
      api: patterns.exactOptional(),
      knowledge: patterns.exactOptional(),
      task: patterns.exactOptional(),
    })
    .describe("Skills that are published with another type than their kind says.")
    .optional(),
  callers: z.array(callerSchema).max(configLimits.callers).optional(),
  anonymous: z
    .strictObject({ tools: tools.optional(), limits: callerLimits.optional() })
    .describe("Callers without a token, who see public skills only; limits are those of one address.")
    .optional(),
  shares: z
    .array(share)
    .max(configLimits.callers)
    .describe("Sets of skills behind /s/TOKEN/, for clients that cannot send credentials.")
    .optional(),
  sources: z.array(source).max(configLimits.sources).describe("Skills of others, as for --source.").optional(),
  skills: z
    .array(z.string().min(1).max(4_096))
    .max(configLimits.sources)
    .describe("Directories of skills, as for --skills; relative ones are beside this file.")
    .optional(),
  limits: limits.describe("Of the whole server.").optional(),
});

export type WrittenConfig = z.infer<typeof configSchema>;

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === "");
}
