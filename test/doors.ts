import { describe, expect, it } from "vitest";

/** What a call came to: an answer, or an error as the wire has it (CONTRACT C-2.3). */
type DoorReply = { readonly result: unknown } | { readonly error: { readonly code: number; readonly data: object } };

/** One way in, opened over the skills of {@link doorSkills}, with an empty blob store. */
export interface OpenDoor {
  readonly call: (tool: string, args: object) => Promise<DoorReply>;
  readonly close: () => Promise<void>;
}

/** The files below the one root of skills that every door is opened over. */
export const doorSkills: Readonly<Record<string, string>> = {
  "pdf-tools/SKILL.md":
    "---\nname: pdf-tools\ndescription: Reads PDF files.\nmetadata:\n  version: '1.2.0'\n---\n# PDF é\n",
  "pdf-tools/references/forms.md": "Forms.\n",
  "pdf-tools/scripts/extract.py": "print()\n",
  "sales.leads.sync/SKILL.md": "---\nname: Lead sync\nshort_description: Syncs.\ntags: [crm]\n---\n",
  "sales.leads.sync/skill.toml":
    'name = "sales.leads.sync"\nversion = "0.1.0"\ndescription = "Syncs leads."\nkind = "instruction"\ntags = ["crm"]\n',
};

interface Case {
  readonly tool: string;
  /** May use what the cases before it answered. */
  readonly args: (earlier: readonly DoorReply[]) => object;
  readonly reply: object;
}

const refused = (code: string, data: object = {}): object => ({
  error: { code: -32602, message: expect.any(String) as string, data: { code, retryable: false, ...data } },
});
const blobId = expect.stringMatching(/^blob:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/) as string;
const text = expect.any(String) as string;

/** What each door answers to the same calls, in this order. */
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
          { name: "pdf-tools", version: "1.2.0" },
          { name: "sales.leads.sync", version: "0.1.0" },
          { name: "skills.protocol.guide", version: "0.1.0" },
        ],
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
    reply: { result: { skills: [{ name: "pdf-tools", version: "1.2.0" }], next_cursor: text } },
  },
  {
    tool: "list_skills",
    args: (earlier) => ({ limit: 1, cursor: cursorOf(earlier[7]) }),
    reply: { result: { skills: [{ name: "sales.leads.sync", version: "0.1.0" }], next_cursor: text } },
  },
  {
    tool: "list_skills",
    args: (earlier) => ({ namespace: "sales", cursor: cursorOf(earlier[7]) }),
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
      violations: [{ field: "/nmespace", expected: "no parameter of this name", actual: "x" }],
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
          skill_md_content: doorSkills["pdf-tools/SKILL.md"],
        },
      },
    },
  },
  {
    tool: "describe_skill",
    args: () => ({ name: "pdf-tool" }),
    reply: refused("SKILL_NOT_FOUND", {
      hint: text,
      available: ["pdf-tools", "sales.leads.sync", "skills.protocol.guide"],
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
];

/** What every door promises: the same call, the same answer (CONTRACT C-2.1). */
export function describeDoors(door: string, open: () => Promise<OpenDoor>): void {
  describe(`the door ${door}`, () => {
    it("answers every call as every other door does", async () => {
      const { call, close } = await open();
      const replies: DoorReply[] = [];
      try {
        for (const { tool, args, reply } of cases) {
          const given = args(replies);
          const received = await call(tool, given);
          expect(received, `${tool} ${JSON.stringify(given)}`).toEqual(reply);
          replies.push(received);
        }
      } finally {
        await close();
      }
    }, 60_000); // A door may be a process for each call.
  });
}

function idOf(reply: DoorReply | undefined): unknown {
  return (reply as { result: { blob_id: string } }).result.blob_id;
}

function cursorOf(reply: DoorReply | undefined): unknown {
  return (reply as { result: { next_cursor: string } }).result.next_cursor;
}

function fileOf(skill: string, path: string): object {
  const content = Buffer.from(doorSkills[`${skill}/${path}`] ?? "");
  return { path, size_bytes: content.length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string };
}
