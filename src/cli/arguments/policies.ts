import { type PolicyLayer, createPolicies } from "../../runtime/trust.ts";
import type { Terminal } from "../report/terminal.ts";
import { givenPolicy } from "./values.ts";

/** The policies that count in a directory, besides those that do not exist. Their problems are not logged. */
export function policiesIn(directory: string, { home }: Pick<Terminal, "home">): readonly PolicyLayer[] {
  return createPolicies({ given: givenPolicy(), home, log: () => undefined }).layersFor(directory);
}
