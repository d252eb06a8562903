import type { Histogram } from "./histogram.ts";

export type Labels = Readonly<Record<string, string>>;

/** A metric of one name, with one sample for each combination of labels. */
export type MetricFamily = { readonly name: string; readonly help: string } & (
  | {
      readonly type: "counter" | "gauge";
      readonly samples: readonly { readonly labels: Labels; readonly value: number }[];
    }
  | {
      readonly type: "histogram";
      readonly samples: readonly { readonly labels: Labels; readonly value: Pick<Histogram, "buckets" | "sum"> }[];
    }
);

export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/** The text format of Prometheus, 0.0.4. Pure. */
export function toMetricsText(families: readonly MetricFamily[]): string {
  return families.map(toFamilyText).join("");
}

function toFamilyText(family: MetricFamily): string {
  const { name, help, type } = family;
  const head = `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n# TYPE ${name} ${type}\n`;
  const lines =
    family.type === "histogram"
      ? family.samples.flatMap(({ labels, value }) => toHistogramLines(name, labels, value))
      : family.samples.map(({ labels, value }) => toLine(name, labels, value));
  return head + lines.join("");
}

function toHistogramLines(
  name: string,
  labels: Labels,
  { buckets, sum }: Pick<Histogram, "buckets" | "sum">,
): string[] {
  const all = buckets();
  return [
    ...all.map(({ upTo, count }) => toLine(`${name}_bucket`, { ...labels, le: toNumber(upTo) }, count)),
    toLine(`${name}_sum`, labels, sum()),
    toLine(`${name}_count`, labels, all.at(-1)?.count ?? 0),
  ];
}

function toLine(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${toLabelValue(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${toNumber(value)}\n`;
}

function toNumber(value: number): string {
  return value === Infinity ? "+Inf" : String(value);
}

function toLabelValue(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
