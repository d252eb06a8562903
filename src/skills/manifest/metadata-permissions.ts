import type { ValueFault } from "../rules/check-frontmatter.ts";
import { explainNetworkEntry, networkEntry, secretName } from "./permission-entries.ts";

/** What the code of a skill requests beyond the defaults of its sandbox (C-1.4). */
export interface Permissions {
  /** Origins, such as `https://*.example.org`. */
  readonly network: readonly string[];
  /** Names of secrets. */
  readonly secrets: readonly string[];
  readonly project: "none" | "read" | "write";
}

/** The permissions that a skill without a `skill.toml` requests in its `acp-skills-…` metadata. Invalid entries are ignored and reported. */
export function readMetadataPermissions(
  metadata: Readonly<Record<string, string>>,
  report?: (fault: ValueFault) => void,
): Permissions {
  const fault = (child: string, what: string, fix: string): void =>
    report?.({
      code: "metadata-permission-invalid",
      key: "metadata",
      child,
      message: `metadata.${child}: ${what}; it is ignored`,
      fix,
    });
  const words = (child: string, shape: RegExp, explain: typeof explainNetworkEntry): string[] =>
    metadata[child]?.split(/\s+/).filter((word) => {
      const isRight = shape.test(word);
      const { what, fix } = explain(word);
      if (!isRight && word !== "") fault(child, what, `${fix} Separate entries with spaces.`);
      return isRight;
    }) ?? [];
  const project = metadata["acp-skills-project"]?.trim() ?? "none";
  const isProject = project === "none" || project === "read" || project === "write";
  if (!isProject) {
    fault("acp-skills-project", `${JSON.stringify(project)} is not none, read or write`, "Write none, read or write.");
  }
  return {
    network: words("acp-skills-network", networkEntry, explainNetworkEntry),
    secrets: words("acp-skills-secrets", secretName, (word) => ({
      what: `${JSON.stringify(word)} is not a valid secret name`,
      fix: "Use letters, digits and underscores, such as API_KEY.",
    })),
    project: isProject ? project : "none",
  };
}
