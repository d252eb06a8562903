import type { JSX } from "preact";
import { SourceText } from "../markdown/source-text.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { TabProps } from "../tabs.ts";
import type { KnownDetail } from "../../source/skill-source.ts";

/** What the skill declares, beside what was found; then its frontmatter and manifest as they were read. */
export function ManifestTab({ detail }: TabProps): JSX.Element {
  const { frontmatter = {}, manifest } = detail;
  return (
    <>
      <h3>Declared and detected</h3>
      <div class="table" role="group" aria-label="Declared and detected" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Declared</th>
              <th scope="col">Detected</th>
            </tr>
          </thead>
          <tbody>
            {compareManifest(detail).map((row) => (
              <Row key={row.what} {...row} />
            ))}
          </tbody>
        </table>
      </div>
      <Written title="Frontmatter of SKILL.md" fields={frontmatter} />
      {manifest !== undefined && <Written title="skill.toml" fields={manifest} />}
    </>
  );
}

function Row({ what, declared, detected, undeclared }: ManifestComparison): JSX.Element {
  return (
    <tr>
      <th scope="row">{what}</th>
      <td>
        <Values values={declared} none="nothing" />
      </td>
      <td>
        <Values values={detected} none="nothing" />
        {undeclared.length > 0 && (
          <p class="mark wrap warning">
            <Icon name="alert" />
            <span>
              Not declared: <Values values={undeclared} none="" />
            </span>
          </p>
        )}
      </td>
    </tr>
  );
}

const mostValues = 100;

function Values({ values, none }: { readonly values: readonly string[]; readonly none: string }): JSX.Element {
  if (values.length === 0) return <span class="muted">{none}</span>;
  return (
    <>
      {values.slice(0, mostValues).map((value, index) => (
        <span key={`${value} ${String(index)}`}>
          {index > 0 && ", "}
          <ForeignText text={value} limit={300} />
        </span>
      ))}
      {values.length > mostValues && ` and ${String(values.length - mostValues)} more`}
    </>
  );
}

const mostFields = 1_000;

function Written({
  title,
  fields,
}: {
  readonly title: string;
  readonly fields: Readonly<Record<string, unknown>>;
}): JSX.Element {
  const entries = Object.entries(fields);
  return (
    <>
      <h3>{title}</h3>
      {entries.length === 0 ? (
        <p class="muted">It has no fields.</p>
      ) : (
        <dl class="fields">
          {entries.slice(0, mostFields).map(([key, value]) => (
            <div key={key}>
              <dt>
                <ForeignText text={key} limit={80} />
              </dt>
              <dd dir="auto">
                {typeof value === "object" && value !== null ? (
                  <SourceText text={JSON.stringify(value, null, 2)} label={`Value of ${key.slice(0, 80)}`} />
                ) : (
                  <ForeignText text={String(value)} limit={2_000} />
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {entries.length > mostFields && <p class="muted">And {entries.length - mostFields} more fields.</p>}
    </>
  );
}

interface ManifestComparison {
  readonly what: string;
  readonly declared: readonly string[];
  readonly detected: readonly string[];
  /** What was detected, matters, and is not declared. */
  readonly undeclared: readonly string[];
}

/** What a skill says of itself, beside what was found; nothing where neither says anything. */
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
