import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

export function isNonEmptyText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

export function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isNonEmptyText);
}

export function isBlobLimits(value: unknown): boolean {
  return isObjectOf(value, (limit) => Number.isSafeInteger(limit) && Number(limit) >= 0);
}

export function isPorts(value: unknown): boolean {
  return isObjectOf(value, (module) => (module instanceof URL ? module.protocol === "file:" : isNonEmptyText(module)));
}

function isObjectOf(value: unknown, accepts: (value: unknown) => boolean): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((one) => one === undefined || accepts(one))
  );
}

export function toModuleUrl(module: string | URL): string {
  return module instanceof URL || module.startsWith("file:") ? String(module) : pathToFileURL(resolve(module)).href;
}
