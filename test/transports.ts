import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MemoryScript } from "./runtime/sandbox/memory-sandbox.ts";

/** The outcome of a call: a result, or an error in its wire form. */
type TransportReply =
  { readonly result: unknown } | { readonly error: { readonly code: number; readonly data: object } };

/** A transport over the skills of {@link transportSkills}, for a session of the given project, with an empty blob store. */
export interface OpenTransport {
  readonly call: (tool: string, args: object) => Promise<TransportReply>;
  readonly close: () => Promise<void>;
}

/** The files below the root of skills that every transport serves. */
export const transportSkills: Readonly<Record<string, string>> = {
  "pdf-tools/SKILL.md":
    "---\nname: pdf-tools\ndescription: Reads PDF files.\nmetadata:\n  version: '1.2.0'\n---\n# PDF é\n",
  "pdf-tools/references/forms.md": "Forms.\n",
  "pdf-tools/scripts/extract.py": "import sys\n\nprint(sys.argv[1:])\n",
  "sales.leads.sync/SKILL.md": "---\nname: Lead sync\nshort_description: Syncs.\ntags: [crm]\n---\n",
  "sales.leads.sync/skill.toml":
    'name = "sales.leads.sync"\nversion = "0.1.0"\ndescription = "Syncs leads."\nkind = "instruction"\ntags = ["crm"]\n',
  "sums.add/SKILL.md": "---\nname: Sums\nshort_description: Adds.\n---\n",
  "sums.add/skill.toml": actionManifest("sums.add", '[inputs.numbers]\ntype = "array"\nrequired = true\n'),
  "sums.add/code/main.py": 'def main(args):\n    print("adding")\n    return {"sum": sum(args["numbers"])}\n',
  "keys.use/SKILL.md": "---\nname: Keys\nshort_description: Uses a key.\n---\n",
  "keys.use/skill.toml": actionManifest("keys.use", '[permissions]\nsecrets = ["ACP_SKILLS_ABSENT_KEY"]\n'),
  "keys.use/code/main.py": "def main():\n    pass\n",
  "zz-release/SKILL.md":
    "---\nname: zz-release\ndescription: Releases the package.\ndisable-model-invocation: true\n---\n# Release\n",
  "zz-release/scripts/release.py": "print(1)\n",
};

/** Who uses the transport: models do not see skills with `disable-model-invocation: true`. */
export type Audience = "models" | "people";

function actionManifest(name: string, rest: string): string {
  const manifest = `name = "${name}"\nversion = "2.0.0"\ndescription = "An action."\nkind = "action"\n`;
  return `${manifest}[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n${rest}`;
}

/** The code of the cases: calls a mounted skill, returns more than a message may contain, fails. */
const programs = {
  calls: "from skills.sums.add import main as add\n\ndef main(args):\n    return add(args)\n",
  floods: 'def main():\n    return "x" * 5000\n',
  fails: 'def main():\n    raise ValueError("not so")\n',
} as const;

/** The programs of the cases for a transport with the in-memory sandbox. */
export const transportScript: MemoryScript = ({ run: { program }, print }) => {
  if (program.type === "script") {
    print("[]\n");
    return { type: "exited", exitCode: 0 };
  }
  if (program.type === "code" && program.code === programs.floods) return { type: "returned", value: "x".repeat(5000) };
  if (program.type === "code" && program.code === programs.fails)
    return { type: "raised", error: { type: "ValueError", message: "not so", details: { line: 2 } } };
  print("adding\n");
  const { numbers } = program.args as { readonly numbers: readonly number[] };
  return { type: "returned", value: { sum: numbers.reduce((sum, number) => sum + number, 0) } };
};

interface Case {
  readonly tool: string;
  /** May use the results of earlier cases. */
  readonly args: (earlier: readonly TransportReply[]) => object;
  readonly reply: object;
  /** The outcome for models, if it differs. */
  readonly toModels?: object;
}

const refused = (code: string, data: object = {}, number = -32602): object => ({
  error: { code: number, message: expect.any(String) as string, data: { code, retryable: false, ...data } },
});
const blobId = expect.stringMatching(/^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/) as string;
const text = expect.any(String) as string;
const ran = {
  run_id: expect.stringMatching(/^run_[A-Za-z0-9]{10,}$/) as string,
  summary: "Completed.",
  output_blobs: [],
  logs_preview: "",
  duration_ms: expect.any(Number) as number,
  limits_applied: { timeout_ms: 30_000, memory_mb: 512, isolation: text },
} as const;

/** The calls and their expected outcomes through every transport, in order. */
const cases: readonly Case[] = [
  {
    tool: "create_blob",
    args: () => ({ content: "é".repeat(1500), kind: "text/plain; charset=utf-8" }),
    reply: { result: { blob_id: blobId, size_bytes: 3000 } },
  },
  {
    tool: "read_blob",
    args: ([created]) => ({ blob_id: idOf(created), max_bytes: 5 }),
    reply: {
      result: {
        content: "éé",
        truncated: true,
        kind: "text/plain; charset=utf-8",
        size_bytes: 3000,
        encoding: "utf-8",
      },
    },
  },
  {
    tool: "create_blob",
    args: () => ({ content: "/wA=", kind: "image/png;base64" }),
    reply: { result: { blob_id: blobId, size_bytes: 2 } },
  },
  {
    tool: "read_blob",
    args: (earlier) => ({ blob_id: idOf(earlier[2]), mode: "full" }),
    reply: { result: { content: "/wA=", truncated: false, kind: "image/png", size_bytes: 2, encoding: "base64" } },
  },
  { tool: "read_blob", args: () => ({ blob_id: "blob:nobody" }), reply: refused("BLOB_NOT_FOUND") },
  {
    tool: "list_skills",
    args: () => ({}),
    reply: {
      result: {
        skills: [
          { name: "keys.use", version: "2.0.0" },
          { name: "pdf-tools", version: "1.2.0" },
          { name: "sales.leads.sync", version: "0.1.0" },
          { name: "skills.protocol.guide", version: "0.1.0" },
          { name: "sums.add", version: "2.0.0" },
          { name: "zz-release", version: "0.0.0" },
        ],
        next_cursor: null,
      },
    },
    toModels: {
      result: {
        skills: expect.not.arrayContaining([{ name: "zz-release", version: "0.0.0" }]) as object[],
        next_cursor: null,
      },
    },
  },
  {
    tool: "list_skills",
    args: () => ({ namespace: "sales", detail: "summary", limit: 1 }),
    reply: {
      result: {
        skills: [
          {
            name: "sales.leads.sync",
            version: "0.1.0",
            description: "Syncs leads.",
            namespace: "sales",
            kind: "instruction",
            tags: ["crm"],
          },
        ],
        next_cursor: null,
      },
    },
  },
  {
    tool: "list_skills",
    args: () => ({ limit: 1 }),
    reply: { result: { skills: [{ name: "keys.use", version: "2.0.0" }], next_cursor: text } },
  },
  {
    tool: "list_skills",
    args: (earlier) => ({ limit: 1, cursor: cursorOf(earlier[7]) }),
    reply: { result: { skills: [{ name: "pdf-tools", version: "1.2.0" }], next_cursor: text } },
  },
  {
    tool: "list_skills",
    args: (earlier) => ({ namespace: "sales", cursor: cursorOf(earlier[7]) }),
    reply: refused("INVALID_CURSOR", { hint: text }),
  },
  {
    tool: "list_skills",
    args: () => ({ query: "syncs PDF files", limit: 1 }),
    reply: { result: { skills: [{ name: "pdf-tools", version: "1.2.0" }], next_cursor: text } },
  },
  {
    tool: "list_skills",
    args: (earlier) => ({ query: "syncs PDF files", cursor: cursorOf(earlier.at(-1)) }),
    reply: { result: { skills: [{ name: "sales.leads.sync", version: "0.1.0" }], next_cursor: null } },
  },
  {
    tool: "list_skills",
    args: (earlier) => ({ query: "leads", cursor: cursorOf(earlier.at(-2)) }),
    reply: refused("INVALID_CURSOR", { hint: text }),
  },
  {
    tool: "list_skills",
    args: () => ({ limit: 0 }),
    reply: refused("VALIDATION_ERROR", {
      violations: [{ field: "/limit", expected: "a whole number, 1 or more", actual: 0 }],
    }),
  },
  {
    tool: "list_skills",
    args: () => ({ nmespace: "x" }),
    reply: refused("VALIDATION_ERROR", {
      hint: "Did you mean namespace?",
      available: expect.arrayContaining(["namespace"]) as string[],
      violations: [{ field: "/nmespace", expected: "no such parameter", actual: "x" }],
    }),
  },
  {
    tool: "describe_skill",
    args: () => ({ name: "sales-leads-sync", detail: "manifest" }),
    reply: {
      result: {
        skill: {
          manifest: {
            name: "sales.leads.sync",
            version: "0.1.0",
            description: "Syncs leads.",
            kind: "instruction",
            namespace: "sales",
            tags: ["crm"],
          },
        },
      },
    },
  },
  {
    tool: "describe_skill",
    args: () => ({ name: "pdf-tools", detail: "full" }),
    reply: {
      result: {
        skill: {
          manifest: {
            name: "pdf-tools",
            version: "1.2.0",
            description: "Reads PDF files.",
            kind: "instruction",
            namespace: "pdf-tools",
            tags: [],
          },
          skill_md_frontmatter: {
            name: "pdf-tools",
            description: "Reads PDF files.",
            metadata: { version: "1.2.0" },
          },
          versions: ["1.2.0"],
          files: [
            fileOf("pdf-tools", "SKILL.md"),
            fileOf("pdf-tools", "references/forms.md"),
            fileOf("pdf-tools", "scripts/extract.py"),
          ],
          digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
          scripts: ["scripts/extract.py"],
          skill_md_content: transportSkills["pdf-tools/SKILL.md"],
        },
      },
    },
  },
  {
    tool: "describe_skill",
    args: () => ({ name: "pdf-tool" }),
    reply: refused("SKILL_NOT_FOUND", {
      hint: text,
      available: expect.arrayContaining(["pdf-tools", "sales.leads.sync", "skills.protocol.guide"]) as string[],
    }),
  },
  {
    tool: "describe_skill",
    args: () => ({ name: "pdf-tools", version: "1.2" }),
    reply: refused("VERSION_NOT_FOUND", { hint: text, available: ["1.2.0"] }),
  },
  {
    tool: "read_skill_file",
    args: () => ({ name: "pdf-tools", path: "references/forms.md" }),
    reply: { result: { content: "Forms.\n", encoding: "utf-8", size_bytes: 7, truncated: false } },
  },
  {
    tool: "read_skill_file",
    args: () => ({ name: "pdf-tools", path: "forms.md" }),
    reply: refused("FILE_NOT_FOUND", { available: ["references/forms.md", "SKILL.md", "scripts/extract.py"] }),
  },
  {
    tool: "read_skill_file",
    args: () => ({ name: "pdf-tools", path: "../sales.leads.sync/SKILL.md" }),
    reply: refused("INVALID_PATH", { hint: text }),
  },
  {
    tool: "load_skills_protocol_guide",
    args: () => ({}),
    reply: { result: { content: expect.stringContaining("list_skills") as string } },
  },
  {
    tool: "execute_skill",
    args: () => ({ name: "sums-add", args: { numbers: [1, 2, 3] } }),
    reply: { result: { ...ran, status: "completed", output: { sum: 6 }, logs_preview: "adding\n", version: "2.0.0" } },
  },
  {
    tool: "execute_skill",
    args: () => ({ name: "sums.add", args: { numbers: [] }, timeout_ms: 700_000 }),
    reply: {
      result: {
        ...ran,
        status: "completed",
        output: { sum: 0 },
        logs_preview: "adding\n",
        version: "2.0.0",
        limits_applied: { ...ran.limits_applied, timeout_ms: 600_000, clamped: true },
      },
    },
  },
  {
    tool: "execute_skill",
    args: () => ({ name: "sums.add", args: { nmbers: [1] } }),
    reply: refused("VALIDATION_ERROR", {
      hint: "Did you mean numbers?",
      available: ["numbers"],
      violations: [
        { field: "/args/nmbers", expected: text, actual: "an array" },
        { field: "/args/numbers", expected: "an array", actual: null },
      ],
    }),
  },
  {
    tool: "execute_skill",
    args: () => ({ name: "sums.add", args: [1] }),
    reply: refused("VALIDATION_ERROR", {
      violations: [{ field: "/args", expected: "an object", actual: "an array" }],
    }),
  },
  {
    tool: "execute_skill",
    args: () => ({ name: "pdf-tools" }),
    reply: refused("NOT_EXECUTABLE", { hint: expect.stringContaining("describe_skill") as string }),
  },
  {
    tool: "execute_skill",
    args: () => ({ name: "pdf-tools", script: "scripts/extract.py" }),
    reply: {
      result: {
        ...ran,
        status: "completed",
        output: { exit_code: 0, stdout: "[]\n", stderr: "" },
        logs_preview: "[]\n",
        version: "1.2.0",
      },
    },
  },
  {
    tool: "execute_skill",
    args: () => ({ name: "keys.use" }),
    reply: refused(
      "PERMISSION_DENIED",
      { hint: expect.stringContaining("acp-skills approvals grant keys.use@sha256:") as string },
      -32001,
    ),
  },
  {
    tool: "run_code",
    args: () => ({
      language: "python",
      code: programs.calls,
      args: { numbers: [4, 5] },
      mount_skills: ["sums-add"],
    }),
    reply: { result: { ...ran, status: "completed", output: { sum: 9 }, logs_preview: "adding\n" } },
  },
  {
    tool: "run_code",
    args: () => ({ language: "python", code: programs.floods }),
    reply: {
      result: {
        ...ran,
        status: "completed",
        output: { truncated: true, blob_id: blobId, size_bytes: 5002, preview: text },
        output_blobs: [blobId],
      },
    },
  },
  {
    tool: "read_blob",
    args: (earlier) => ({ blob_id: spilledOf(earlier.at(-1)), max_bytes: 2 }),
    reply: {
      result: { content: '"x', truncated: true, kind: "application/json", size_bytes: 5002, encoding: "utf-8" },
    },
  },
  {
    tool: "run_code",
    args: () => ({ language: "python", code: programs.fails }),
    reply: {
      result: {
        ...ran,
        status: "failed",
        summary: "ValueError: not so",
        error: { type: "ValueError", message: "not so", details: expect.objectContaining({ line: 2 }) as object },
      },
    },
  },
  {
    tool: "run_code",
    args: () => ({ language: "perl", code: "1" }),
    reply: refused("UNSUPPORTED_LANGUAGE", {
      available: ["python"],
      hint: text,
    }),
  },
  {
    tool: "run_code",
    args: () => ({ language: "python", code: "", limits: { timeout: 5 } }),
    reply: refused("VALIDATION_ERROR", {
      hint: "Did you mean timeout_ms?",
      available: ["timeout_ms"],
      violations: [{ field: "/limits/timeout", expected: "no such parameter", actual: 5 }],
    }),
  },
  {
    tool: "run_code",
    args: () => ({ language: "python", code: "", input_blobs: ["blob:nobody"] }),
    reply: refused("BLOB_NOT_FOUND"),
  },
  {
    tool: "create_blob",
    args: () => ({ path: "data/rows.csv", kind: "text/csv" }),
    reply: { result: { blob_id: blobId, size_bytes: 8 } },
  },
  {
    tool: "read_blob",
    args: (earlier) => ({ blob_id: idOf(earlier.at(-1)), save_as: "data/copy.csv" }),
    reply: { result: { saved_as: "data/copy.csv", size_bytes: 8 } },
  },
  {
    tool: "read_blob",
    args: (earlier) => ({ blob_id: idOf(earlier.at(-2)), save_as: "data/copy.csv" }),
    reply: refused("VALIDATION_ERROR", {
      violations: [
        { field: "/save_as", expected: "the path of a new file, or overwrite: true", actual: "data/copy.csv" },
      ],
    }),
  },
  {
    tool: "read_blob",
    args: (earlier) => ({ blob_id: idOf(earlier.at(-3)), save_as: "data/copy.csv", overwrite: true }),
    reply: { result: { saved_as: "data/copy.csv", size_bytes: 8 } },
  },
  {
    tool: "read_blob",
    args: (earlier) => ({ blob_id: idOf(earlier.at(-4)), save_as: ".git/hooks/pre-commit" }),
    reply: refused("INVALID_PATH", { hint: text }),
  },
  {
    tool: "create_blob",
    args: () => ({ path: "out/rows.csv", kind: "text/csv" }),
    reply: refused("INVALID_PATH", { hint: text }),
  },
  {
    tool: "create_blob",
    args: () => ({ path: "data/absent.csv", kind: "text/csv" }),
    reply: refused("FILE_NOT_FOUND", { hint: text }),
  },
  {
    tool: "list_skills",
    args: () => ({ query: "release" }),
    reply: { result: { skills: [{ name: "zz-release", version: "0.0.0" }], next_cursor: null } },
    toModels: { result: { skills: [], next_cursor: null } },
  },
  {
    tool: "describe_skill",
    args: () => ({ name: "zz-release", detail: "manifest" }),
    reply: { result: { skill: { manifest: expect.objectContaining({ name: "zz-release" }) as object } } },
    toModels: refusedAsAbsent("zz-release"),
  },
  {
    tool: "read_skill_file",
    args: () => ({ name: "zz-release", path: "SKILL.md" }),
    reply: { result: expect.objectContaining({ content: transportSkills["zz-release/SKILL.md"] }) as object },
    toModels: refusedAsAbsent("zz-release"),
  },
  {
    tool: "execute_skill",
    args: () => ({ name: "zz-release", script: "scripts/release.py", args: { argv: 1 } }),
    reply: refused("VALIDATION_ERROR", { violations: [expect.objectContaining({ field: "/args/argv" })] }),
    toModels: refusedAsAbsent("zz-release"),
  },
  {
    tool: "run_code",
    args: () => ({ language: "python", code: "", mount_skills: ["zz-release"], input_blobs: ["blob:nobody"] }),
    reply: refused("BLOB_NOT_FOUND"),
    toModels: refusedAsAbsent("zz-release"),
  },
];

function refusedAsAbsent(name: string): object {
  return refused("SKILL_NOT_FOUND", { hint: text, available: expect.not.arrayContaining([name]) as string[] });
}

/** Tests that the same call has the same result through every transport. */
export function describeTransports(
  transport: string,
  open: (project: string) => Promise<OpenTransport>,
  audience: Audience = "models",
): void {
  describe(`the transport ${transport}`, () => {
    it("gives the same answers as every other transport", async () => {
      const directory = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-transport-")));
      const project = makeProject(directory);
      const { call, close } = await open(project);
      const replies: TransportReply[] = [];
      try {
        for (const { tool, args, reply, toModels = reply } of cases) {
          const given = args(replies);
          const received = await call(tool, given);
          expect(received, `${tool} ${JSON.stringify(given)}`).toEqual(audience === "models" ? toModels : reply);
          replies.push(received);
        }
        expect(readFileSync(join(project, "data", "copy.csv"), "utf8")).toBe("a,b\n1,2\n");
        expect(readdirSync(join(project, "data")).sort()).toEqual(["copy.csv", "rows.csv"]);
      } finally {
        await close();
        rmSync(directory, { recursive: true, force: true });
      }
    }, 60_000); // A transport may start a process for each call.
  });
}

/** A directory with a file and a link to a target outside of it. */
function makeProject(directory: string): string {
  const project = join(directory, "project");
  for (const place of [join(project, "data"), join(directory, "outside")]) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "rows.csv"), "a,b\n1,2\n");
  }
  symlinkSync(join(directory, "outside"), join(project, "out"));
  return project;
}

function idOf(reply: TransportReply | undefined): unknown {
  return (reply as { result: { blob_id: string } }).result.blob_id;
}

function spilledOf(reply: TransportReply | undefined): unknown {
  return (reply as { result: { output: { blob_id: string } } }).result.output.blob_id;
}

function cursorOf(reply: TransportReply | undefined): unknown {
  return (reply as { result: { next_cursor: string } }).result.next_cursor;
}

function fileOf(skill: string, path: string): object {
  const content = Buffer.from(transportSkills[`${skill}/${path}`] ?? "");
  return { path, size_bytes: content.length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string };
}
