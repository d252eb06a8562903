import type { Lesson, ServiceConnection, SessionKey } from "./skill-service.ts";

/** The methods of the port, called with their arguments. */
type Method = keyof ServiceConnection;

/** To the service. `connection` numbers ACP connections; `call` numbers calls whose result is awaited. */
export type ToService =
  | { readonly kind: "connect"; readonly connection: number }
  | {
      readonly kind: "ask";
      readonly connection: number;
      readonly method: Method;
      readonly args: readonly unknown[];
      readonly call?: number;
    }
  /** A line was written. */
  | { readonly kind: "written"; readonly line: number; readonly spent?: Uint8Array }
  | { readonly kind: "close" };

/** From the service. */
export type FromService =
  | { readonly kind: "answer"; readonly call: number; readonly value: unknown }
  | { readonly kind: "line"; readonly connection: number; readonly line: number; readonly bytes: Uint8Array }
  | { readonly kind: "answered"; readonly connection: number; readonly id: string | number }
  | {
      readonly kind: "lesson";
      readonly connection: number;
      readonly key: SessionKey;
      readonly lesson: Lesson | undefined;
    }
  | { readonly kind: "log"; readonly level: "info" | "warning" | "error"; readonly message: string };
