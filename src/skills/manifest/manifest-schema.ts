import * as z from "zod";
import { maxDescriptionLength } from "./check-document.ts";
import type { RuleCode } from "../rules.ts";
import { countCodePoints } from "../../base/text/code-points.ts";
import { endpointUrl, networkEntry } from "../permissions.ts";
import {
  credentialHeader,
  credentialScheme,
  maxSecretHosts,
  faultsOfSecrets,
  secretName,
} from "../permissions/secret-use.ts";

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

/** The endpoint at which a skill of another machine runs. */
const remoteSchema = z.looseObject({
  endpoint: z.string().regex(endpointUrl),
  /** The secret that is sent as credentials. */
  secret: z.string().regex(secretName).optional(),
  /** The header that carries the secret. Default: authorization. */
  header: z.string().regex(credentialHeader).optional(),
  /** The word before the secret in the header. Default: Bearer in authorization, else nothing. */
  scheme: z.string().regex(credentialScheme).optional(),
});

/** A secret that acp-skills sends to hosts, in a header of the requests of the skill's code. */
const secretSchema = z.looseObject({
  name: z.string().regex(secretName),
  /** Exact names of hosts, with or without a port, for https; for http an address of this machine: `http://127.0.0.1:8080`. */
  hosts: z.array(z.string()).min(1).max(maxSecretHosts).optional(),
  /** The header that carries the value. Default: Authorization. */
  header: z.string().max(64).optional(),
  /** The word before the value in the header. Default: Bearer in Authorization, else nothing. */
  scheme: z.string().regex(credentialScheme).optional(),
  /** Whether the code can read the value as well. */
  expose: z.boolean().optional(),
});

const permissionsSchema = z.looseObject({
  network: z.array(z.string().regex(networkEntry)).optional(),
  secrets: z.array(z.union([z.string().regex(secretName), secretSchema])).optional(),
  project: z.enum(["none", "read", "write"]).optional(),
  isolation: z.enum(["none"]).optional(),
});

const limitsSchema = z.looseObject({ timeout_ms: z.int().min(1).optional(), memory_mb: z.int().min(1).optional() });

const dependenciesSchema = z.looseObject({ skills: z.array(z.string().regex(dependency)).optional() });

const manifestShape = z.looseObject({
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
  remote: remoteSchema.optional(),
  inputs: z.record(z.string(), argumentSchema).optional(),
  outputs: z.record(z.string(), argumentSchema).optional(),
  permissions: permissionsSchema.optional(),
  limits: limitsSchema.optional(),
  dependencies: dependenciesSchema.optional(),
});

export type Manifest = z.infer<typeof manifestShape>;

/** `skill.toml` of the Skills Protocol dialect. Unknown keys are preserved. */
export const manifestSchema = manifestShape.superRefine(checkManifest).meta({
  if: { properties: { kind: { const: "action" } } },
  then: {
    oneOf: [
      { properties: { runtime: true, remote: false }, required: ["runtime"] },
      { properties: { remote: true, runtime: false, permissions: false }, required: ["remote"] },
    ],
  },
  else: { properties: { runtime: false, remote: false } },
});

/** The known keys of a manifest, by table; `*` stands for any name. */
export const manifestKeys: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(manifestSchema.shape),
  runtime: Object.keys(runtimeSchema.shape),
  remote: Object.keys(remoteSchema.shape),
  "inputs.*": Object.keys(argumentSchema.shape),
  "outputs.*": Object.keys(argumentSchema.shape),
  permissions: Object.keys(permissionsSchema.shape),
  "permissions.secrets.*": Object.keys(secretSchema.shape),
  limits: Object.keys(limitsSchema.shape),
  dependencies: Object.keys(dependenciesSchema.shape),
};

/** Checks the rules that involve several keys. */
function checkManifest(manifest: Manifest, context: z.RefinementCtx): void {
  const report = (rule: RuleCode, path: string[], message: string, fix: string): void =>
    context.addIssue({ code: "custom", path, message, params: { rule, fix } });
  const { name, kind, namespace, runtime, remote, permissions } = manifest;
  // The exact position of each fault is reported when the file is read.
  for (const { code, message, fix } of faultsOfSecrets(permissions?.secrets))
    report(code, ["permissions", "secrets"], message, fix);
  if (kind === "action" && runtime === undefined && remote === undefined) {
    const fix = 'Add a [runtime] table with language = "python" and an entrypoint.';
    report("manifest-runtime-missing", ["kind"], "an action needs a [runtime] or [remote] table", fix);
  }
  for (const table of ["runtime", "remote"] as const) {
    if (kind !== "instruction" || manifest[table] === undefined) continue;
    const fix = `Remove the [${table}] table, or write kind = "action".`;
    report("manifest-runtime-refused", [table], `an instruction cannot have a [${table}] table`, fix);
  }
  if (runtime !== undefined && remote !== undefined) {
    const fix = "Remove one of the two.";
    report("manifest-runtime-refused", ["remote"], "an action has either a [runtime] or a [remote] table", fix);
  }
  if (remote !== undefined && permissions !== undefined) {
    const fix = "Remove [permissions]: remote.endpoint and remote.secret are what the skill may use.";
    report("manifest-field-invalid", ["permissions"], "a skill with [remote] has no [permissions]", fix);
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
