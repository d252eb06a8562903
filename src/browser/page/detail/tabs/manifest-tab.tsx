import type { ComponentChildren, JSX } from "preact";
import { SourceText } from "../markdown/source-text.tsx";
import { fieldList } from "../../components/fields.tsx";
import { foreignText } from "../../components/foreign-text.tsx";
import { Icon } from "../../components/icon.tsx";
import { titledTable } from "../../components/table.tsx";
import type { TabProps } from "../tabs.ts";
import type { KnownDetail } from "../../source/skill-source.ts";

/** The tab of the skill's declarations beside the detected facts, then its frontmatter and manifest as they were read. */
export function ManifestTab({ detail }: TabProps): JSX.Element {
  const { frontmatter = {}, manifest } = detail;
  return (
    <>
      <h3>Declared and detected</h3>
      <div class="table" role="group" aria-label="Declared and detected" tabIndex={0}>
        {titledTable(
          ["What", "Declared", "Detected"],
          compareManifest(detail).map(({ what, declared, detected, undeclared }) => [
            what,
            someOf(declared),
            <>
              {someOf(detected)}
              {undeclared.length > 0 && (
                <p class="mark wrap warning">
                  <Icon name="alert" />
                  <span>Not declared: {someOf(undeclared)}</span>
                </p>
              )}
            </>,
          ]),
        )}
      </div>
      {written("Frontmatter of SKILL.md", frontmatter)}
      {manifest && written("skill.toml", manifest)}
    </>
  );
}

const maxValues = 100;

function someOf(values: readonly string[]): JSX.Element {
  if (values.length === 0) return <span class="muted">nothing</span>;
  return (
    <>
      {foreignText(values.slice(0, maxValues).join(", "), 30_000)}
      {values.length > maxValues && ` and ${String(values.length - maxValues)} more`}
    </>
  );
}

const maxFields = 1_000;

function written(title: string, fields: Readonly<Record<string, unknown>>): JSX.Element {
  const entries = Object.entries(fields);
  const toContent = (key: string, value: unknown): ComponentChildren =>
    typeof value === "object" && value !== null ? (
      <SourceText text={JSON.stringify(value, null, 2)} label={`Value of ${key.slice(0, 80)}`} />
    ) : (
      String(value)
    );
  return (
    <>
      <h3>{title}</h3>
      {entries.length === 0 && <p class="muted">It has no fields.</p>}
      {fieldList(entries.slice(0, maxFields).map(([key, value]) => [key, toContent(key, value)]))}
      {entries.length > maxFields && <p class="muted">And {entries.length - maxFields} more fields.</p>}
    </>
  );
}

interface ManifestComparison {
  readonly what: string;
  readonly declared: readonly string[];
  readonly detected: readonly string[];
  /** The detected hosts and variables that the skill should declare but does not. */
  readonly undeclared: readonly string[];
}

/** Compares a skill's declarations with the detected facts, one row a topic. Topics without either are left out. */
export function compareManifest(detail: KnownDetail): readonly ManifestComparison[] {
  const {
    row,
    frontmatter = {},
    manifest = {},
    wants,
    detected: seen,
    license,
    environment = [],
    scripts = [],
  } = detail;
  const declare = (...keys: readonly string[]): readonly string[] => [
    ...new Set(keys.flatMap((key) => [own(frontmatter, key), own(manifest, key)]).flatMap(toTexts)),
  ];
  const { network = [], secrets = [], uses = [], project, isolation } = wants ?? {};
  const { hosts = [], environment: variables = [] } = seen ?? {};
  const compared: readonly (readonly [string, readonly string[], readonly string[], undeclared?: readonly string[]])[] =
    [
      ["Name", declare("name"), [row.name]],
      ["Version", declare("version"), [row.version]],
      ["Kind", declare("kind", "type"), [row.kind]],
      ["License", declare("license"), toTexts(license?.license)],
      ["Tools", declare("allowed-tools"), row.allowedTools ?? []],
      ["Network", network, hosts, hosts.filter((host) => !network.some((pattern) => covers(pattern, host)))],
      ["Environment variables", secrets, variables, variables.filter((name) => !secrets.includes(name))],
      ["Secrets that it cannot read", uses, []],
      ["Project files", toTexts(project), []],
      ["Isolation", toTexts(isolation), []],
      [
        "Requirements",
        environment.map(({ requirement }) => requirement),
        environment.map(({ requirement, status }) => `${requirement}: ${status}`),
      ],
      ["Scripts", [], scripts],
    ];
  return compared
    .filter(([, declared, detected]) => declared.length + detected.length > 0)
    .map(([what, declared, detected, undeclared = []]) => ({ what, declared, detected, undeclared }));
}

/** Whether a pattern such as `*.example.com`, `example.com:443` or `https://example.com` allows a host, at any port. */
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
  return Array.isArray(value) ? value.flatMap(toTexts) : [typeof value === "string" ? value : JSON.stringify(value)];
}
