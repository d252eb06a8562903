import type { RuleCode } from "../rules/rules.ts";

/** A violated rule that involves several keys of a manifest. */
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

/** The rules of C-1.4 that involve several keys. */
export function checkManifest({ name, kind, namespace, runtime }: Checked): ManifestFault[] {
  const faults: ManifestFault[] = [];
  if (kind === "action" && runtime === undefined) {
    faults.push({
      code: "manifest-runtime-missing",
      path: ["kind"],
      message: "an action needs a [runtime] table",
      fix: 'Add a [runtime] table with language = "python" and an entrypoint.',
    });
  }
  if (kind === "instruction" && runtime !== undefined) {
    faults.push({
      code: "manifest-runtime-refused",
      path: ["runtime"],
      message: "an instruction cannot have a [runtime] table",
      fix: 'Remove the [runtime] table, or write kind = "action".',
    });
  }
  if (runtime !== undefined && !staysInside(runtime.entrypoint)) {
    faults.push({
      code: "manifest-entrypoint-outside",
      path: ["runtime", "entrypoint"],
      message: `entrypoint \`${runtime.entrypoint}\` is not a relative path inside the skill`,
      fix: "Use a path relative to the skill's directory, with / as separator and without . and .. segments.",
    });
  }
  if (namespace !== undefined && namespace !== name && !name.startsWith(`${namespace}.`)) {
    faults.push({
      code: "manifest-namespace-mismatch",
      path: ["namespace"],
      message: `namespace \`${namespace}\` is not a dotted prefix of the name \`${name}\``,
      fix: `Use the first segments of the name, such as ${name.split(".", 1)[0] ?? name}.`,
    });
  }
  return faults;
}

function staysInside(path: string): boolean {
  if (/[\\\0]|^[A-Za-z]:|^~/.test(path)) return false;
  return path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}
