import * as z from "zod";

const dottedName = /^[a-z0-9]+(\.[a-z0-9]+)*$/;
/** Semantic Versioning 2.0.0, the expression its FAQ gives. */
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;

const argumentSchema = z.looseObject({
  type: z.enum(["string", "integer", "number", "boolean", "object", "array", "blob"]),
  description: z.string().optional(),
  required: z.boolean().optional(),
  default: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
});

/** `skill.toml` of the Skills Protocol dialect (CONTRACT C-1.4). Unknown keys are kept. */
export const manifestSchema = z.looseObject({
  name: z.string().regex(dottedName),
  version: z.string().regex(semver),
  description: z.string().trim().min(1).max(1024),
  kind: z.enum(["action", "instruction"]),
  namespace: z.string().regex(dottedName).optional(),
  tags: z.array(z.string()).max(20).optional(),
  runtime: z
    .looseObject({
      language: z.enum(["python"]),
      entrypoint: z.string().min(1),
      export: z.string().min(1).default("main"),
    })
    .optional(),
  inputs: z.record(z.string(), argumentSchema).optional(),
  outputs: z.record(z.string(), argumentSchema).optional(),
  permissions: z
    .looseObject({
      network: z.array(z.string()).optional(),
      secrets: z.array(z.string()).optional(),
      project: z.enum(["none", "read", "write"]).optional(),
    })
    .optional(),
  limits: z.looseObject({ timeout_ms: z.int().min(1).optional(), memory_mb: z.int().min(1).optional() }).optional(),
  dependencies: z.looseObject({ skills: z.array(z.string()).optional() }).optional(),
});

export type Manifest = z.infer<typeof manifestSchema>;
