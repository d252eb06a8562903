export function readPlainYaml(_text: string): Record<string, unknown> | undefined {
  return undefined;
}
