import * as z from "zod";

export const problemSchema = z
  .object({
    code: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
    severity: z.enum(["error", "warning", "note"]),
    file: z.string().min(1),
    line: z.int().min(1),
    column: z.int().min(1),
    endLine: z.int().min(1).optional(),
    endColumn: z.int().min(1).optional(),
    message: z.string().min(1),
    fix: z.string().min(1),
  })
  .readonly();

/**
 * A problem of a skill. `code` is stable; `line` and `column` start at 1 and count characters (code points) of the file as read. The end
 * is exclusive. `fix` names the remedy.
 */
export type Problem = z.infer<typeof problemSchema>;
