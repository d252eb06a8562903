import type * as z from "zod";
import type { createBlob } from "../create_blob.ts";
import type { describeSkill } from "../describe_skill.ts";
import type { executeSkill } from "../execute_skill.ts";
import type { listSkills } from "../list_skills.ts";
import type { loadSkillsProtocolGuide } from "../load_skills_protocol_guide.ts";
import type { readBlob } from "../read_blob.ts";
import type { readSkillFile } from "../read_skill_file.ts";
import type { runCode } from "../run_code.ts";
import type { RunResult } from "../../runs/record/run-result.ts";

interface Served {
  readonly list_skills: typeof listSkills;
  readonly describe_skill: typeof describeSkill;
  readonly read_skill_file: typeof readSkillFile;
  readonly execute_skill: typeof executeSkill;
  readonly run_code: typeof runCode;
  readonly create_blob: typeof createBlob;
  readonly read_blob: typeof readBlob;
  readonly load_skills_protocol_guide: typeof loadSkillsProtocolGuide;
}

/** The names of the tools. */
export type ServedToolName = keyof Served;

type ReadBlob = z.infer<Served["read_blob"]["output"]>;

/** A part of a blob, or with `save_as` the file it was written to. */
type BlobOutput =
  | (Required<Omit<ReadBlob, "saved_as">> & { readonly saved_as?: never })
  | (Required<Pick<ReadBlob, "saved_as" | "size_bytes">> & { readonly content?: never });

/** The arguments of a tool. */
export type ToolInput<Name extends ServedToolName> = z.input<Served[Name]["input"]>;

/** The result of a tool. */
export type ToolOutput<Name extends ServedToolName> = Name extends "execute_skill" | "run_code"
  ? RunResult
  : Name extends "read_blob"
    ? BlobOutput
    : z.infer<Served[Name]["output"]>;
