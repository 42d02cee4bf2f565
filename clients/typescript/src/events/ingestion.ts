import type { EventBatchResponse } from '@latchkey/contract';

import { isObject } from '../json.ts';

/** Reads the answer to a batch of events; null if it is another. */
export function readIngestion(body: unknown): EventBatchResponse | null {
  if (!isObject(body)) return null;
  const { accepted, dropped } = body;
  return typeof accepted === 'number' && typeof dropped === 'number' ? { accepted, dropped } : null;
}

/** Whether a body lists the faults of a request that does not match its schema, which has no code. */
export function hasFaults(body: unknown): boolean {
  const detail = isObject(body) ? body['detail'] : null;
  return (
    Array.isArray(detail) && detail.some((each) => isObject(each) && Array.isArray(each['loc']))
  );
}
