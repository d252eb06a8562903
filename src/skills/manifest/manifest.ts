import * as z from "zod";
import { maxDescriptionLength } from "../rules/check-frontmatter.ts";
import type { RuleCode } from "../rules/rules.ts";
import { countCodePoints } from "../text/code-points.ts";
import { networkEntry, secretName } from "./permissions.ts";

const dottedName = /^[a-z0-9]+(\.[a-z0-9]+)*$/;
/** The regular expression in the FAQ of Semantic Versioning 2.0.0. */
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;
/** A canonical name with an optional version range: `a.b`, `a.b@1.2.3`, `a.b@^1`, `a.b@~1.2`. */
const dependency = /^[a-z0-9]+(\.[a-z0-9]+)*(@[\^~]?[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?)?$/;

const argumentSchema = z.looseObject({
  type: z.enum(["string", "integer", "number", "boolean", "object", "array", "blob"]),
  description: z.string().optional(),
  required: z.boolean().optional(),
  default: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
});

const runtimeSchema = z.looseObject({
  language: z.enum(["python"]),
  entrypoint: z.string().min(1),
  export: z.string().min(1).default("main"),
});

const permissionsSchema = z.looseObject({
  network: z.array(z.string().regex(networkEntry)).optional(),
  secrets: z.array(z.string().regex(secretName)).optional(),
  project: z.enum(["none", "read", "write"]).optional(),
  isolation: z.enum(["none"]).optional(),
});

const limitsSchema = z.looseObject({ timeout_ms: z.int().min(1).optional(), memory_mb: z.int().min(1).optional() });

const dependenciesSchema = z.looseObject({ skills: z.array(z.string().regex(dependency)).optional() });

/** `skill.toml` of the Skills Protocol dialect (CONTRACT C-1.4). Unknown keys are kept. */
export const manifestSchema = z
  .looseObject({
    name: z.string().max(64).regex(dottedName),
    version: z.string().regex(semver),
    description: z
      .string()
      .trim()
      .min(1)
      .refine((text) => countCodePoints(text) <= maxDescriptionLength, `at most ${maxDescriptionLength} code points`)
      .meta({ maxLength: maxDescriptionLength, pattern: "\\S" }),
    kind: z.enum(["action", "instruction"]),
    namespace: z.string().regex(dottedName).optional(),
    tags: z.array(z.string()).max(20).optional(),
    runtime: runtimeSchema.optional(),
    inputs: z.record(z.string(), argumentSchema).optional(),
    outputs: z.record(z.string(), argumentSchema).optional(),
    permissions: permissionsSchema.optional(),
    limits: limitsSchema.optional(),
    dependencies: dependenciesSchema.optional(),
  })
  .superRefine((manifest, context) => {
    checkManifest(manifest, (rule, path, message, fix) => {
      context.addIssue({ code: "custom", path: [...path], message, params: { rule, fix } });
    });
  })
  .meta({
    if: { properties: { kind: { const: "action" } } },
    then: { properties: { runtime: true }, required: ["runtime"] },
    else: { properties: { runtime: false } },
  });

/** The known keys of a manifest, by table; `*` stands for any name. */
export const manifestKeys: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(manifestSchema.shape),
  runtime: Object.keys(runtimeSchema.shape),
  "inputs.*": Object.keys(argumentSchema.shape),
  "outputs.*": Object.keys(argumentSchema.shape),
  permissions: Object.keys(permissionsSchema.shape),
  limits: Object.keys(limitsSchema.shape),
  dependencies: Object.keys(dependenciesSchema.shape),
};

export type Manifest = z.infer<typeof manifestSchema>;

interface Checked {
  readonly name: string;
  readonly kind: "action" | "instruction";
  readonly namespace?: string | undefined;
  readonly runtime?: { readonly entrypoint: string } | undefined;
}

type Report = (
  rule: Extract<RuleCode, `manifest-${string}`>,
  path: readonly string[],
  message: string,
  fix: string,
) => void;

/** The rules of C-1.4 that involve several keys. */
function checkManifest({ name, kind, namespace, runtime }: Checked, report: Report): void {
  if (kind === "action" && runtime === undefined) {
    const fix = 'Add a [runtime] table with language = "python" and an entrypoint.';
    report("manifest-runtime-missing", ["kind"], "an action needs a [runtime] table", fix);
  }
  if (kind === "instruction" && runtime !== undefined) {
    const fix = 'Remove the [runtime] table, or write kind = "action".';
    report("manifest-runtime-refused", ["runtime"], "an instruction cannot have a [runtime] table", fix);
  }
  if (runtime !== undefined && !staysInside(runtime.entrypoint)) {
    const message = `entrypoint \`${runtime.entrypoint}\` is not a relative path inside the skill`;
    const fix = "Use a path relative to the skill's directory, with / as separator and without . and .. segments.";
    report("manifest-entrypoint-outside", ["runtime", "entrypoint"], message, fix);
  }
  if (namespace !== undefined && namespace !== name && !name.startsWith(`${namespace}.`)) {
    const message = `namespace \`${namespace}\` is not a dotted prefix of the name \`${name}\``;
    const fix = `Use the first segments of the name, such as ${name.split(".", 1)[0] ?? name}.`;
    report("manifest-namespace-mismatch", ["namespace"], message, fix);
  }
}

function staysInside(path: string): boolean {
  if (/[\\\0]|^[A-Za-z]:|^~/.test(path)) return false;
  return path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}
