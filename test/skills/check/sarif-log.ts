/** What a scanner found at one place. */
interface Found {
  readonly uri: string;
  readonly text: string;
  readonly line?: number;
  readonly level?: string;
  readonly sha256?: string;
}

/** A log as scanners write it. */
export function sarifLog(found: readonly Found[], name = "Scanner"): object {
  const artifacts = found.map(({ uri, sha256 }) => ({
    location: { uri },
    ...(sha256 && { hashes: { "sha-256": sha256 } }),
  }));
  const results = found.map(({ uri, text, line, level }) => ({
    ruleId: "rule-1",
    ...(level !== undefined && { level }),
    message: { text },
    locations: [
      { physicalLocation: { artifactLocation: { uri }, ...(line !== undefined && { region: { startLine: line } }) } },
    ],
  }));
  return { version: "2.1.0", runs: [{ tool: { driver: { name, rules: [{ id: "rule-1" }] } }, artifacts, results }] };
}
