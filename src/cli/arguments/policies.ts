import { type PolicyLayer, createPolicies } from "../../runtime/trust.ts";
import type { SourceDenial } from "../../sources/reader.ts";
import type { Terminal } from "../report/terminal.ts";
import { givenPolicy } from "./values.ts";

/** The policies that count in a directory, besides those that do not exist. Their problems are not logged. */
export function policiesIn(directory: string, { home }: Pick<Terminal, "home">): readonly PolicyLayer[] {
  return createPolicies({ given: givenPolicy(), home, log: () => undefined }).layersFor(directory);
}

/** Which sources the policies that count in a directory deny. */
export function deniedSources(directory: string, { home, log }: Pick<Terminal, "home" | "log">): SourceDenial {
  const policy = createPolicies({ given: givenPolicy(), home, log }).policyFor(directory);
  return (url) => policy.deniesSource(url);
}
