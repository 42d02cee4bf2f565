import type { Done } from '@latchkey/contract';

/** The answer of an operation that has nothing to show. */
export const DONE: Done = { done: true };
