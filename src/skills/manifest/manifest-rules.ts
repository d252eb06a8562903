import type { RuleCode } from "../rules/rules.ts";

/** A rule between several keys of a manifest that it breaks. */
export interface ManifestFault {
  readonly code: Extract<RuleCode, `manifest-${string}`>;
  readonly path: readonly string[];
  readonly message: string;
  readonly fix: string;
}

interface Checked {
  readonly name: string;
  readonly kind: "action" | "instruction";
  readonly namespace?: string | undefined;
  readonly runtime?: { readonly entrypoint: string } | undefined;
}

/** The rules of C-1.4 that no single key's shape can tell. */
export function checkManifest({ name, kind, namespace, runtime }: Checked): ManifestFault[] {
  const faults: ManifestFault[] = [];
  if (kind === "action" && runtime === undefined) {
    faults.push({
      code: "manifest-runtime-missing",
      path: ["kind"],
      message: "an action needs a runtime",
      fix: 'Add a table [runtime] with language = "python" and an entrypoint.',
    });
  }
  if (kind === "instruction" && runtime !== undefined) {
    faults.push({
      code: "manifest-runtime-refused",
      path: ["runtime"],
      message: "an instruction has no runtime",
      fix: 'Remove the table [runtime], or write kind = "action".',
    });
  }
  if (runtime !== undefined && !staysInside(runtime.entrypoint)) {
    faults.push({
      code: "manifest-entrypoint-outside",
      path: ["runtime", "entrypoint"],
      message: `the entrypoint ${runtime.entrypoint} is not a relative path inside the skill`,
      fix: "Write it relative to the skill's directory, with / between names and without . and ..",
    });
  }
  if (namespace !== undefined && namespace !== name && !name.startsWith(`${namespace}.`)) {
    faults.push({
      code: "manifest-namespace-mismatch",
      path: ["namespace"],
      message: `the namespace ${namespace} is not a dotted prefix of the name ${name}`,
      fix: `Use the first segments of the name, such as ${name.split(".", 1)[0] ?? name}.`,
    });
  }
  return faults;
}

function staysInside(path: string): boolean {
  if (/[\\\0]|^[A-Za-z]:|^~/.test(path)) return false;
  return path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}
