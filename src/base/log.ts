/** Receives diagnostics: stderr or a file, never stdout, which belongs to the protocol. Must not throw. */
export type Log = (level: "info" | "warning" | "error", message: string) => void;

export const silentLog: Log = () => undefined;
