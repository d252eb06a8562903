import * as z from "zod";
import { ruleSources } from "../.build/conformance/rule.js";

/** `schema/conformance/index.json`: every rule, where it comes from, and what is expected of its transcripts. */
export const conformanceIndexSchema = z.strictObject({
  $schema: z.string(),
  rules: z.array(
    z.strictObject({
      id: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
      title: z.string().min(1),
      severity: z.enum(["error", "warning"]).describe("Warnings alone leave an agent or client conformant."),
      appliesTo: z.enum(["client", "agent"]),
      source: z.enum(ruleSources).describe("Who asks for it; the rules of one source have a verdict of their own."),
      document: z.string().min(1).describe("Where its sentence stands."),
      section: z.string().min(1).exactOptional(),
      sentence: z.string().min(1),
      transcripts: z
        .array(
          z.strictObject({
            file: z.string().describe("Relative to the index."),
            expected: z.enum(["pass", "fail"]).describe("Whether the transcript keeps this rule."),
            lines: z.array(z.int().min(1)).describe("Where it breaks this rule; empty if it keeps it."),
            alsoBroken: z.array(z.string()).describe("Other rules that it breaks."),
          }),
        )
        .min(2),
    }),
  ),
});
