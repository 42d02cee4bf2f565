import type { EventBatchResponse } from '@latchkey/contract';

import { isObject } from '../json.ts';

/** Reads the answer to a batch of events; null if it is another. */
export function readIngestion(body: unknown): EventBatchResponse | null {
  if (!isObject(body)) return null;
  const { accepted, dropped } = body;
  return typeof accepted === 'number' && typeof dropped === 'number' ? { accepted, dropped } : null;
}
