import { isStorableText } from '@latchkey/contract';

import { invalidRequest } from '#server/errors.ts';
import { isRecord } from '#server/lib/unknown-values.ts';

import type { App } from './app-instance.ts';

/**
 * Rejects bodies that contain a text or a member name with U+0000 or a lone surrogate anywhere, also in unknown members, with
 * 422: PostgreSQL stores neither as text or jsonb. The schemas report those in known members first, by their location.
 */
export function refuseUnstorableText(scope: App): void {
  scope.addHook('preHandler', async ({ body }) => {
    if (isStorable(body)) return;
    const msg = 'Value error, the character U+0000 and lone surrogates are not allowed';
    throw invalidRequest([{ loc: ['body'], msg, type: 'value_error' }]);
  });
}

/** Whether PostgreSQL can store all texts and names of a parsed JSON value, which may be nested deeper than the stack. */
export function isStorable(value: unknown): boolean {
  const rest = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === 'string') {
      if (!isStorableText(next)) return false;
    } else if (Array.isArray(next)) {
      for (const item of next) rest.push(item);
    } else if (isRecord(next)) {
      for (const name of Object.keys(next)) rest.push(name, next[name]);
    }
  }
  return true;
}
