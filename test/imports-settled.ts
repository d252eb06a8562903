import { afterAll, vi } from "vitest";

/**
 * Files of the shared process end when what they import has been loaded: a module that is still being loaded when a file ends is not loaded
 * for the files after it either.
 */
afterAll(() => vi.dynamicImportSettled());
