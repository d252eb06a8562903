export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/** The maximum number of series of a metric: more than the server has routes, or the error table codes. */
const maxSeries = 128;

/** The value of each label for all series beyond the maximum. */
export const otherValue = "_OTHER";

/** The values of one combination of labels. */
interface Series {
  /** The labels in the text format: `name="value"`, escaped. */
  readonly labels: readonly string[];
  /** The value of a counter or gauge, or the sum of a histogram. */
  value: number;
  /** The number of observations up to each bound, and above the last one. */
  readonly counts: number[];
}

/** A metric in the text format of Prometheus, 0.0.4. */
export class Metric {
  readonly #type: "counter" | "gauge" | "histogram";
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  /** The upper bounds of a histogram, ascending. */
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor(
    type: "counter" | "gauge" | "histogram",
    name: string,
    help: string,
    { labels = [], bounds = [] }: { readonly labels?: readonly string[]; readonly bounds?: readonly number[] } = {},
  ) {
    [this.#type, this.#name, this.#help, this.#labels, this.#bounds] = [type, name, help, labels, bounds];
  }

  /** Adds to a series. `values` are the values of its labels. */
  add(values: readonly string[], amount: number): void {
    this.#of(values).value += amount;
  }

  observe(values: readonly string[], value: number): void {
    const series = this.#of(values);
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const index = found < 0 ? this.#bounds.length : found;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.value += value;
  }

  #of(values: readonly string[]): Series {
    const key = values.join("\n");
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= maxSeries && values.some((value) => value !== otherValue))
      return this.#of(this.#labels.map(() => otherValue));
    const labels = this.#labels.map((label, at) => `${label}="${toLabelValue(values[at] ?? "")}"`);
    const series = { labels, value: 0, counts: [...this.#bounds, Infinity].map(() => 0) };
    this.#series.set(key, series);
    return series;
  }

  render(): string {
    const name = this.#name;
    const lines = [`# HELP ${name} ${this.#help}`, `# TYPE ${name} ${this.#type}`];
    for (const { labels, value, counts } of this.#series.values()) {
      if (this.#type !== "histogram") {
        lines.push(toLine(name, labels, value));
        continue;
      }
      let count = 0;
      for (const [at, bound] of [...this.#bounds, "+Inf"].entries()) {
        count += counts[at] ?? 0;
        lines.push(toLine(`${name}_bucket`, [...labels, `le="${bound}"`], count));
      }
      lines.push(toLine(`${name}_sum`, labels, value), toLine(`${name}_count`, labels, count));
    }
    return `${lines.join("\n")}\n`;
  }
}

function toLine(name: string, labels: readonly string[], value: number): string {
  return `${name}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${value}`;
}

function toLabelValue(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
