import { digestForm } from "../../../base/text/digest-form.ts";
import * as z from "zod";

const text = z.string().min(1);
const digest = z.string().regex(digestForm);
const time = z.iso.datetime();

const origins = z.enum(["own", "project", "remote"]);
const caller = z.strictObject({ skill: text, digest });

const texts = z.array(z.string()).readonly();

const capabilitiesSchema = z
  .strictObject({
    network: texts.default([]),
    secrets: texts.default([]),
    project: z.enum(["none", "read", "write"]).default("none"),
    isolation: z.literal("none").exactOptional(),
    /** Of older files, without effect. */
    tools: texts.exactOptional(),
  })
  .transform(({ network, secrets, project, isolation }) => {
    return { network, secrets, project, ...(isolation !== undefined && { isolation }) };
  });

/** Allows exactly these bytes to do exactly this. */
export const grantSchema = z.strictObject({
  /** `grant_` and 16 hexadecimal digits. */
  id: z.string().regex(/^grant_[0-9a-f]{16}$/),
  /** Canonical name. */
  skill: text,
  version: text,
  digest,
  capabilities: capabilitiesSchema,
  /** The skill whose code calls it. Absent: calls of people and models. */
  calledBy: caller.exactOptional(),
  /** Where the skill came from, as blocks have it, and its source on the network. Absent in older grants: one of the person's own. */
  from: origins.exactOptional(),
  source: text.exactOptional(),
  /** The user's name on this machine. */
  who: text,
  when: time,
  /** Where it was given: `editor`, `terminal`, `import`, `policy`. */
  via: text,
  expires: time.exactOptional(),
});

export type Grant = z.infer<typeof grantSchema>;

/** A skill that a person blocked: all its versions. `from`: one of the person's own, of a project, or of a source on the network. */
export const blockSchema = z.strictObject({
  skill: text,
  from: origins,
  who: text,
  when: time,
  via: text,
});

export type Block = z.infer<typeof blockSchema>;
