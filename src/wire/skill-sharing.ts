import * as z from "zod";

/** The documents of Skill Sharing, which acp-skills publishes, and reads from other servers. */

/** The version of the documents. Readers accept every version with the same MAJOR. */
export const sharingVersion = "1.0.0";

export const capabilityTypes = ["plugin", "api", "knowledge", "task"] as const;
/** The kind of a skill, for those who search for skills (Skill Sharing, descriptors). */
export type CapabilityType = (typeof capabilityTypes)[number];

export const accessPolicies = ["public", "restricted", "private"] as const;
/** The group that may have a skill (Skill Sharing, descriptors). */
export type AccessPolicy = (typeof accessPolicies)[number];

const text = z.string().min(1);
const protocol = z.object({ version: text });
const provider = z.object({ name: text, url: z.string().exactOptional() });

export const skillIndexEntry = z.object({
  /** `com.example.translate-v1`: reverse domain, slug, major version; unique in an index. */
  id: text,
  name: text,
  capability_type: z.enum(capabilityTypes),
  description: text,
  /** An absolute URL. */
  descriptor_url: text,
  access: z.enum(accessPolicies),
  version: text,
});
export type SkillIndexEntry = z.infer<typeof skillIndexEntry>;

/** The `cursor` of the next page at the same URL, for a catalog with several pages (additive). Absent on the last page. */
const nextCursor = z.string().exactOptional();

export const skillIndex = z.object({
  protocol,
  provider,
  skills: z.array(skillIndexEntry).readonly(),
  next_cursor: nextCursor,
});

export const registryPage = z.object({
  protocol,
  skills: z.array(skillIndexEntry).readonly(),
  next_cursor: nextCursor,
});

/** An argument as `skill.toml` declares it. */
const argument = z.looseObject({
  type: z.string(),
  description: z.string().exactOptional(),
  required: z.boolean().exactOptional(),
  default: z.unknown().exactOptional(),
  enum: z.array(z.unknown()).readonly().exactOptional(),
});

/** The URL at which a skill of type `api` is invoked, or from which the files of any other skill are downloaded. */
const endpoint = z.object({
  /** An absolute URL. */
  url: text,
  method: z.enum(["GET", "POST"]),
  /** The type of a download: `application/gzip`, a gzip of ustar with SKILL.md at its root. */
  media_type: z.string().exactOptional(),
  /** The digest of a download's bytes: `sha256:` and 64 hexadecimal digits. */
  digest: z.string().exactOptional(),
});

export const skillDescriptor = z.object({
  protocol,
  id: text,
  name: text,
  version: text,
  capability_type: z.enum(capabilityTypes),
  description: text,
  provider,
  endpoint,
  inputs: z.record(z.string(), argument),
  output: z.record(z.string(), argument),
  auth: z.looseObject({ type: z.enum(["api_key", "oauth2", "custom", "none"]) }),
  access: z.enum(accessPolicies),
  tags: z.array(z.string()).readonly().exactOptional(),
  documentation_url: z.string().exactOptional(),
  created_at: z.string().exactOptional(),
  updated_at: z.string().exactOptional(),
});
/** A skill as a server describes it to others (Skill Sharing, descriptors). */
export type SkillDescriptor = z.infer<typeof skillDescriptor>;

/** The answer to an invocation, with status 202. The URLs are additive; default: `<endpoint>/<execution_id>` and `…/result`. */
export const acceptedExecution = z.object({
  execution_id: text,
  status: z.literal("accepted"),
  status_url: z.string().exactOptional(),
  result_url: z.string().exactOptional(),
});

export const executionStates = ["accepted", "running", "completed", "failed", "cancelled"] as const;

export const executionStatus = z.object({ execution_id: text, status: z.enum(executionStates) });

/** The result of an execution that has ended: a run record. */
export const executionResult = z.looseObject({
  execution_id: text,
  status: z.enum(["completed", "failed", "cancelled"]),
  output: z.unknown().exactOptional(),
  error: z.looseObject({ type: z.string(), message: z.string() }).exactOptional(),
});

/** The codes of errors with their HTTP status. */
export const sharingErrors = {
  VALIDATION_ERROR: 400,
  AUTH_REQUIRED: 401,
  PERMISSION_DENIED: 403,
  SKILL_NOT_FOUND: 404,
  VERSION_INCOMPATIBLE: 422,
  RATE_LIMITED: 429,
  ENDPOINT_UNREACHABLE: 503,
  EXECUTION_TIMEOUT: 504,
  INTERNAL: 500,
} as const;

export const sharingError = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.unknown().exactOptional(),
    /** Whether the same request may succeed later, and after how many seconds. */
    retry: z.looseObject({ after_seconds: z.number().exactOptional() }).exactOptional(),
  }),
});
