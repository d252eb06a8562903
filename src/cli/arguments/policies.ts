import { type PolicyLayer, createPolicies } from "../../runtime/trust.ts";
import type { Terminal } from "../report/terminal.ts";
import { givenPolicy } from "./values.ts";

/** The existing policies that apply in a directory. Problems of policies are not logged. */
export function policiesIn(directory: string, { home }: Pick<Terminal, "home">): readonly PolicyLayer[] {
  return createPolicies({ given: givenPolicy(), home, log: () => undefined }).layersFor(directory);
}
