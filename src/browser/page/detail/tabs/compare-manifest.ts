import type { KnownDetail } from "../../source/skill-source.ts";

export interface ManifestComparison {
  readonly what: string;
  readonly declared: readonly string[];
  readonly detected: readonly string[];
  /** What was detected, matters, and is not declared. */
  readonly undeclared: readonly string[];
}

/** What a skill says of itself, beside what was found; nothing where neither says anything. */
export function compareManifest(detail: KnownDetail): readonly ManifestComparison[] {
  const { row, frontmatter = {}, manifest = {}, permissions, license, environment = [], scripts = [] } = detail;
  const wants = permissions?.wants;
  const seen = permissions?.detected;
  const declare = (...keys: readonly string[]): readonly string[] => [
    ...new Set(keys.flatMap((key) => [own(frontmatter, key), own(manifest, key)]).flatMap(toTexts)),
  ];
  const compared: readonly ManifestComparison[] = [
    { what: "Name", declared: declare("name"), detected: [row.name], undeclared: [] },
    { what: "Version", declared: declare("version"), detected: [row.version], undeclared: [] },
    { what: "Kind", declared: declare("kind", "type"), detected: [row.kind], undeclared: [] },
    {
      what: "License",
      declared: declare("license"),
      detected: toTexts(license?.license),
      undeclared: [],
    },
    { what: "Tools", declared: declare("allowed-tools"), detected: row.allowedTools ?? [], undeclared: [] },
    {
      what: "Network",
      declared: wants?.network ?? [],
      detected: seen?.hosts ?? [],
      undeclared: (seen?.hosts ?? []).filter(
        (host) => !(wants?.network ?? []).some((pattern) => covers(pattern, host)),
      ),
    },
    {
      what: "Environment variables",
      declared: wants?.secrets ?? [],
      detected: seen?.environment ?? [],
      undeclared: (seen?.environment ?? []).filter((name) => wants?.secrets.includes(name) !== true),
    },
    { what: "Project files", declared: wants === undefined ? [] : [wants.project], detected: [], undeclared: [] },
    { what: "Isolation", declared: toTexts(wants?.isolation), detected: [], undeclared: [] },
    {
      what: "Requirements",
      declared: environment.map(({ requirement }) => requirement),
      detected: environment.map(({ requirement, status }) => `${requirement}: ${status}`),
      undeclared: [],
    },
    { what: "Scripts", declared: [], detected: scripts, undeclared: [] },
  ];
  return compared.filter(({ declared, detected }) => declared.length + detected.length > 0);
}

/** Whether `*.example.com`, `example.com:443` or `https://example.com` allows a host, at whatever port. */
function covers(pattern: string, host: string): boolean {
  const [name = ""] = pattern
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, "")
    .split(/[:/]/);
  return name === host || name === "*" || (name.startsWith("*.") && host.endsWith(name.slice(1)));
}

function own(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function toTexts(value: unknown): readonly string[] {
  if (value === undefined || value === null || value === "") return [];
  if (Array.isArray(value)) return value.flatMap(toTexts);
  return [typeof value === "string" ? value : JSON.stringify(value)];
}
