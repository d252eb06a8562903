import * as z from "zod";
import { runResult } from "../.build/runtime/runs/run-spec.js";
import { problemSchema } from "../.build/skills/rules/problem.js";
import { availableSkillSchema } from "../.build/wire/available-skill.js";

const text = z.string();
const texts = z.array(text);
const count = z.int().min(0);
const flag = z.boolean();
const orNull = z.nullable;

/** What every object begins with. */
const versioned = z.object({
  schemaVersion: z.literal(1).describe("Raised when a field changes or goes. Fields are added without that."),
});
/** @param {z.core.$ZodShape} fields */
const output = (fields) => versioned.extend(fields);

const problem = problemSchema.meta({ id: "problem" });
const problems = z.array(problem);
const counts = z
  .object({
    found: count,
    checked: count,
    notChecked: count,
    complete: flag.describe("False if places that were not read may contain more skills."),
    reasons: z.array(z.object({ code: text, count })),
  })
  .meta({ id: "counts" });
const capabilities = z
  .object({
    network: texts,
    secrets: texts,
    project: z.enum(["none", "read", "write"]),
    isolation: z.literal("none").optional(),
  })
  .meta({ id: "capabilities" });
const signer = z
  .union([
    z.object({ identity: text, issuer: text }),
    z.object({ key: text.describe("SHA256: and the digest of the public key (SPKI) in base64.") }),
  ])
  .meta({ id: "signer" });
const signature = z
  .union([
    z.object({ state: z.literal("signed"), signer }),
    z.object({ state: z.literal("unsigned"), note: text.optional() }),
    z.object({ state: z.literal("invalid"), why: text }),
  ])
  .meta({ id: "signature" });
const listedSkill = z.object({
  ...availableSkillSchema.shape,
  path: text.describe("Its SKILL.md."),
  digest: text.optional(),
  state: z.enum(["needs-approval", "blocked", "denied"]).optional().describe("Why it cannot be used now."),
  signature: signature.optional().describe("Absent in a list: it is not signed."),
  problems,
});
/** From what the lock names. */
const localChanges = z.object({ missing: texts, changed: texts, added: texts, hashes: texts });
const files = z.object({ added: texts, removed: texts, changed: texts });
const version = orNull(text);
const policyFile = z.object({ origin: text, file: text, used: flag });
const spread = z.object({ mean: z.number(), stddev: z.number() }).meta({ id: "spread" });
const evalSummary = z.object({
  runs: count,
  failed: count,
  pass_rate: spread.optional(),
  time_seconds: spread,
  tokens: spread.optional(),
});
const comparedEvals = { with_skill: evalSummary.optional(), without_skill: evalSummary.optional() };
const share = z
  .object({ count, of: count, share: z.number(), low: z.number(), high: z.number() })
  .meta({ id: "share", description: "With a confidence interval of 95 %." });
const advice = z.object({
  tool: text,
  rule: text,
  severity: z.enum(["error", "warning", "note"]),
  message: text,
  file: text,
  line: z.int().optional(),
  sha256: text.optional(),
});
const license = {
  license: text.optional().describe("An SPDX expression."),
  status: z.enum(["declared", "unknown", "unspecified"]),
  declared: text.optional().describe("The field as it is written."),
  files: texts,
};
const refusal = z.object({ why: text, hint: text });
const approval = z
  .object({
    type: z.enum(["grant", "block", "trusted-project"]),
    id: version,
    scope: z.enum(["project", "everywhere"]),
    project: version,
    skill: version,
    version,
    digest: version,
    capabilities: orNull(capabilities),
    called_by: orNull(z.object({ skill: text, digest: text })),
    from: orNull(z.enum(["own", "project", "remote"])),
    who: text,
    when: z.iso.datetime(),
    via: text,
    expires: version,
    repository: text.optional(),
    prefix: text.optional(),
  })
  .meta({ id: "approval" });
const requirement = z.object({
  kind: z.enum(["program", "system", "network", "variable", "secret", "packages", "skill", "sandbox", "text"]),
  anyOf: z.array(z.unknown()).optional(),
  hosts: texts.optional(),
  variable: text.optional(),
  secret: text.optional(),
  packages: texts.optional(),
  skill: text.optional(),
  needs: texts.optional(),
  name: text,
  status: z.enum(["met", "missing", "unknown"]),
  evidence: text,
  advice: text.optional(),
  certainty: text,
  where: z.object({ file: text, field: text, text }),
});
const difference = z.object({ where: text, before: version, after: version });
const blob = {
  id: text,
  kind: text,
  size_bytes: count,
  sha256: text,
  owner: text,
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
};
const leaseSeconds = z.number().describe("Until the lease ends; negative since it has ended.");
const result = runResult.meta({ id: "run-result" });
const storedRun = {
  status: text,
  createdAt: z.number().describe("Milliseconds since 1970."),
  spec: z.looseObject({ runId: text }).describe("What was to run."),
  events: z.array(z.looseObject({ type: text, atMs: z.number() })),
  result: result.optional(),
  error: z.object({ code: text, message: text }).optional(),
};
const installed = z.object({
  slug: text,
  name: text,
  version: text,
  digest: text,
  signature,
  permissions: capabilities,
  scripts: texts,
  requires: texts,
  host_commands: texts.describe("What agents that load the skill themselves run on this machine."),
  problems,
  action: z.enum(["install", "replace", "adopt", "nothing", "refuse"]),
  done: flag,
  path: text,
});
const ledgerFields =
  "event tool caller project skill asked version digest outcome code run_id isolation count about answer grant session_id subagent door";

/** What each command prints with `--json`; `error` goes to stderr. */
const commands = {
  error: output({
    code: z.int().describe("As in JSON-RPC."),
    message: text,
    data: z.looseObject({ code: text, hint: text.optional(), retryable: flag }),
  }),
  list: output({ skills: z.array(listedSkill), problems, counts: orNull(counts) }),
  show: output({
    ...listedSkill.shape,
    dialect: text,
    tags: texts,
    sources: texts,
    versions: z.array(z.object({ version: text, path: text })),
    files: z.array(z.looseObject({ path: text, size_bytes: count })),
    host_commands: texts,
    permissions: capabilities,
    environment: orNull(z.looseObject({ status: text })),
    manifest: z.looseObject({}).optional().describe("See skill.toml.json."),
    calls: z.array(z.looseObject({ skill: text })).optional(),
  }),
  check: output({
    problems,
    checked: count,
    fixed: z.array(z.object({ file: text, codes: texts })),
    fixable: count,
    counts,
    advice: z.array(advice).optional().describe("With --advice: what scanners of others say."),
  }),
  licenses: output({
    skills: z.array(
      z.object({ name: text, version: text, ...license, denied: refusal.optional(), path: text, sources: texts }),
    ),
  }),
  eval: output({
    skill: text,
    directory: text.describe("Where the results are recorded."),
    runs: z.array(
      z.object({
        id: text,
        number: count,
        withSkill: flag,
        shouldTrigger: flag,
        results: z.array(
          z.object({
            text,
            weight: z.number(),
            passed: orNull(flag).describe("Null where nobody could tell."),
            evidence: text,
          }),
        ),
        use: z.enum(["used", "unused", "unseen"]),
        stopReason: text,
        fault: text.optional(),
        durationMs: z.number(),
        tokens: z.number().optional(),
        isCut: flag.optional().describe("Not all files that it left were recorded."),
        rejected: count,
      }),
    ),
    benchmark: z.object({
      cases: z.array(
        z.object({
          ...{ id: text, shouldTrigger: flag, ...comparedEvals },
          use: z
            .object({ count, of: count })
            .optional()
            .describe("How many sessions used the skill; absent if that cannot be seen."),
        }),
      ),
      run_summary: z.object({
        ...comparedEvals,
        delta: z
          .object({ pass_rate: z.number().optional(), time_seconds: z.number(), tokens: z.number().optional() })
          .optional(),
      }),
      triggering: z.object({ precision: share.optional(), recall: share.optional(), unseen: count }),
    }),
    worse: version.describe("In what the skill makes it worse."),
  }),
  sign: output({ name: text, version: text, digest: text, signature, path: text }),
  "sign-key": output({ key: text.describe("The fingerprint of the public key."), path: text }),
  env: output({
    machine: z.object({ system: text, architecture: text, node: text }),
    counts: z.object({ skills: count, missing: count, unknown: count, met: count, nothing: count }),
    skills: z.array(
      z.object({ name: text, version: text, path: text, status: version, requirements: z.array(requirement) }),
    ),
  }),
  doctor: output({
    version: text,
    node: z.object({ version: text, executable: text }),
    python: z.union([z.object({ reason: text }), z.object({ version: text, executable: text })]),
    isolation: version.describe("What runs use; null if no code can be run."),
    tiers: z.array(
      z.object({
        tier: text,
        usable: flag,
        lacks: texts.optional(),
        reason: text.optional(),
        fix: texts.optional(),
      }),
    ),
    limits: z.record(text, z.number()),
    cgroup: z.union([
      z.object({ usable: z.literal(true), parent: text }),
      z.object({ usable: z.literal(false), reason: text, consequence: text }),
    ]),
    data_directory: text,
    data_directory_problem: text.optional(),
    foreign_files: texts,
    roots: z.array(z.object({ path: text, exists: flag })),
    skills: count,
    policies: z.array(policyFile),
    grants: z.array(z.object({ grant: text, reason: text.optional() })),
    agents: z.array(z.object({ name: text, path: text })),
    cluster: z
      .object({ usable: flag, database: text.optional(), schema: count.optional(), faults: texts })
      .optional()
      .describe("With --cluster."),
  }),
  init: output({ name: text, directory: text, files: texts }),
  setup: output({
    editor: text,
    files: z.array(
      z.object({
        file: text,
        real: text.optional(),
        changes: flag,
        written: flag,
        backup: text.optional(),
        undone: z.enum(["exactly", "in part"]).optional(),
        agents: z.array(z.object({ name: text, outcome: text, note: text.optional() })),
        diff: texts,
      }),
    ),
    command: texts.optional().describe("Of an editor whose settings a person enters."),
  }),
  find: output({
    skills: z.array(z.object({ name: text, version: text.optional(), description: text, from: text })),
  }),
  discover: output({
    source: text,
    form: text,
    commit: text.optional(),
    skills: z.array(
      z.object({
        name: text,
        version: text.optional(),
        id: text.optional(),
        type: text.optional(),
        access: text.optional(),
        description: text,
        digest: text.optional(),
        use: z.enum(["install", "invoke", "cannot", "unknown"]),
        why: text.optional(),
      }),
    ),
    problems: texts,
    partial: flag,
  }),
  add: output({
    source: text,
    dry_run: flag,
    skills: z.array(installed),
    refused: z.array(z.object({ name: text, why: text })),
    offered: texts.optional().describe("Of which none was named."),
  }),
  "add-locked": output({
    frozen: flag,
    skills: z.array(
      z.object({ name: text, state: text, why: text.optional(), version: text.optional(), digest: text.optional() }),
    ),
  }),
  update: output({
    skills: z.array(
      z.object({
        name: text,
        state: z.enum(["current", "updated", "available", "refused", "skipped", "gone", "failed", "held"]),
        why: text.optional(),
        local_changes: localChanges.optional(),
        from: z.object({ version, digest: version }).optional(),
        to: z.object({ version: text, digest: text }).optional(),
        same_version: z.literal(true).optional(),
        signature: signature.optional(),
        widened: texts.optional().describe("What it newly requests."),
        files: files.optional(),
      }),
    ),
  }),
  outdated: output({
    skills: z.array(
      z.object({
        name: text,
        state: z.enum(["current", "updated", "missing", "changed", "skipped", "gone", "failed", "held"]),
        installed: z.object({ version, digest: version, commit: version, on_disk: text }),
        latest: orNull(z.object({ version: text, digest: text })),
        source: text,
        why: text.optional(),
      }),
    ),
  }),
  remove: output({ removed: texts, refused: texts }),
  publish: output({
    skills: z.array(z.object({ slug: text, source: text, digest: text, published: flag, signed: flag })),
  }),
  verify: output({
    ok: flag,
    skills: z.array(
      z.object({ name: text, state: text, ...localChanges.partial().shape, signature: signature.optional() }),
    ),
    unlocked: texts,
  }),
  install: output({ skill: text, python: version, directory: version }),
  "approvals-list": output({ approvals: z.array(approval) }),
  "approvals-show": output({
    approvals: z.array(z.object({ ...approval.shape, installed: orNull(flag), changed: texts })),
  }),
  "approvals-grant": output({
    allowed: flag,
    id: version.optional(),
    skill: text.optional(),
    version: text.optional(),
    digest: text.optional(),
    project: text.optional(),
    ...refusal.partial().shape,
  }),
  "approvals-block": output({
    blocked: z.literal(true).optional(),
    blocks: z.array(approval).optional(),
    allowed: z.literal(false).optional(),
    skill: text.optional(),
    ...refusal.partial().shape,
  }),
  "approvals-revoke": output({ revoked: z.array(approval) }),
  "approvals-export": output({
    format: z.literal("acp-skills exported approvals 1"),
    exported: z.iso.datetime(),
    scopes: z.array(z.looseObject({ project: text.optional() })),
  }),
  "approvals-import": output({ imported: count, expired: count, absent_projects: texts }),
  "policy-check": output({ files: z.array(policyFile), problems }),
  "policy-explain": output({
    name: text,
    version: text,
    digest: text,
    source: text,
    own: flag,
    license: text,
    files: z.array(policyFile),
    decisions: z.array(
      z.object({
        about: text,
        verdict: z.enum(["allowed", "granted", "needs approval", "denied"]),
        why: text,
        file: text.optional(),
        line: count.optional(),
        column: count.optional(),
      }),
    ),
  }),
  ledger: output({
    uses: z.array(
      z.object({
        at: z.iso.datetime(),
        ...Object.fromEntries(ledgerFields.split(" ").map((name) => [name, orNull(z.union([text, z.number()]))])),
      }),
    ),
  }),
  "ledger-verify": output({
    intact: flag,
    rooms: z.array(
      z.object({
        room: text,
        first: count,
        last: count,
        digest: text,
        unchained: count,
        fault: z.object({ row: count, why: text }).optional(),
      }),
    ),
  }),
  run: output(runResult.shape),
  "run-dry-run": output({
    spec: z.looseObject({ runId: text }).describe("What would run."),
    isolation: text,
    authorization: z.looseObject({ allowed: flag }),
  }),
  "runs-list": output({ runs: z.array(z.object(storedRun).meta({ id: "stored-run" })) }),
  "runs-show": output(storedRun),
  replay: output({
    same: flag,
    replays: text,
    run_id: text,
    differences: z.array(difference),
    asides: z.array(difference).describe("What does not count."),
    notes: texts,
    result,
  }),
  "blobs-list": output({ blobs: z.array(z.object(blob)) }),
  "blobs-show": output(blob),
  "blobs-read": output({ ...blob, encoding: z.enum(["utf-8", "base64"]), content: text }),
  "blobs-rm": output({ removed: texts }),
  "blobs-sweep": output({ removed: count, freed_bytes: count, in_use: count }),
  "cluster-migrate": output({ applied: texts }),
  "cluster-status": output({
    database: text.describe("Its URL, without a password."),
    version: text,
    schema: z.object({ number: count, oldest: count.describe("The oldest schema whose programs can go on.") }),
    members: z.array(
      z.object({
        ...{ id: text, kind: z.enum(["server", "wrapper", "worker"]), host: text, pid: count, version: text },
        ...{ labels: texts, concurrency: count, age_seconds: z.number(), lease_seconds: leaseSeconds },
      }),
    ),
    runs: z.object({ queued: count, running: count }),
    queue: z.array(z.object({ labels: texts, waiting: count, oldest_seconds: z.number() })),
    leases: z.array(
      z.object({
        ...{ run_id: text, worker: version, fence: count, age_seconds: z.number(), lease_seconds: leaseSeconds },
      }),
    ),
    tables: z.array(z.object({ name: text, bytes: count, rows: count })),
    problems: texts,
  }),
  "cluster-demo": output({
    database: text.describe("Which PostgreSQL it was."),
    runs: count,
    completed: count,
    wrong: count.describe("Results that are not what the skill returns."),
    repeated: count.describe("Runs that a second worker executed."),
    seconds: z.number(),
    ok: flag,
  }),
  call: output({ tool: text, result: z.unknown().describe("See tools.json.") }),
  tools: output({ tools: z.array(z.looseObject({})) }),
  conformance: output({
    subject: z.enum(["agent", "client", "both"]),
    conformant: orNull(flag),
    sources: texts,
    errors: count,
    warnings: count,
    verdicts: z.array(z.object({ source: text, checked: flag, errors: count, warnings: count })),
    connections: z.array(
      z.looseObject({ name: text, messages: count, findings: z.array(z.looseObject({ severity: text })) }),
    ),
  }),
};

/** A schema of what each command prints with `--json`, in `$defs`. */
export function outputSchema() {
  const named = Object.entries(commands).map(([id, schema]) => [id, schema.meta({ id })]);
  const { $schema, $defs } = z.toJSONSchema(z.object(Object.fromEntries(named)), {
    io: "input",
    target: "draft-2020-12",
  });
  return { $schema, title: "output", description: "What each command prints with --json.", $defs };
}
