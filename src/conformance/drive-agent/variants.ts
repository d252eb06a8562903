import { metaKey } from "../../wire/methods.ts";

/** One way to be an editor. An agent is connected to once for each. */
export interface Variant {
  readonly name: string;
  /** What the editor declares, in words. */
  readonly about: string;
  readonly protocol: 1 | 2;
  readonly capabilities: object;
}

export const variants: readonly Variant[] = [
  { name: "plain", about: "a v1 editor that declares nothing", protocol: 1, capabilities: {} },
  {
    name: "update",
    about: "a v1 editor that opts in to available_skills_update",
    protocol: 1,
    capabilities: { session: { skills: {} }, _meta: { [metaKey]: true } },
  },
  {
    name: "notification",
    about: "a v1 editor that opts in to notifications with changes only, and declines commands",
    protocol: 1,
    capabilities: { _meta: { [metaKey]: { notification: true, deltas: true, commands: false } } },
  },
  { name: "v2", about: "a v2 editor that declares nothing", protocol: 2, capabilities: {} },
];

/** The params of `initialize`; a v2 request also has the fields that agents of v1 read. */
export function toInitializeParams({ protocol, capabilities }: Variant, version: string): object {
  const info = { name: "acp-skills-conformance", version };
  const v1 = { clientInfo: info, clientCapabilities: capabilities };
  return { protocolVersion: protocol, ...v1, ...(protocol === 2 && { info, capabilities }) };
}
