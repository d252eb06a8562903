import { systemClock } from "../../../base/clock.ts";
import { type PlayedClient, playAgent } from "../../../conformance/play-agent.ts";
import { type ConformanceReport, makeReport } from "../../../conformance/report.ts";
import type { RuleOrigin } from "../../../conformance/rule.ts";
import type { Terminal } from "../../report/terminal.ts";
import { safeTextReport } from "./print-report.ts";
import { normaliseTranscript, placesOf } from "../../../conformance/normalise.ts";

interface CheckClientOptions {
  readonly timeout: number;
  readonly record: ((text: string) => void) | undefined;
  readonly profiles: readonly RuleOrigin[] | undefined;
  readonly print: (report: ConformanceReport) => Promise<void>;
  /** Without a report file, the report is printed on stderr; stdout belongs to the protocol. */
  readonly hasReport: boolean;
  readonly terminal: Terminal;
}

/** Plays an agent on stdio until the client leaves. The report file is complete after each step: clients may kill their agents. */
export async function checkClient({
  timeout,
  record,
  profiles,
  print,
  hasReport,
  terminal,
}: CheckClientOptions): Promise<number> {
  const write = (played: PlayedClient): ConformanceReport => {
    record?.(normaliseTranscript(played.entries, placesOf([])).join(""));
    const { survived, notes, ...rest } = played;
    const steps = survived.map((step) => `survived ${step}`);
    const report = makeReport("client", [{ name: "client", ...rest, notes: [...steps, ...notes] }], profiles);
    if (hasReport) void print(report);
    return report;
  };
  const { stdin: input, stdout: output } = process;
  const played = await playAgent({ input, output, clock: systemClock, timeout, onProgress: write });
  const report = write(played);
  const lines = [...safeTextReport(report)];
  terminal.echo(hasReport ? `acp-skills: ${lines.at(-1) ?? ""}` : lines.join(""));
  return report.conformant === true ? 0 : 1;
}
