import { parseDateTime } from '@latchkey/contract';

import { invalidRequest } from '#server/errors.ts';

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Reads a time of a filter: a date means its start in UTC. Undefined stays undefined.
 * @throws invalidRequest (422) for another text
 */
export function readTimeFilter(place: 'body' | 'query', name: string, text: string): Date;
export function readTimeFilter(
  place: 'body' | 'query',
  name: string,
  text: string | undefined,
): Date | undefined;
export function readTimeFilter(
  place: 'body' | 'query',
  name: string,
  text: string | undefined,
): Date | undefined {
  if (text === undefined) return undefined;
  const time = parseDateTime(DATE.test(text) ? `${text}T00:00:00Z` : text);
  if (time !== undefined) return time;
  const msg = 'Input should be a date or a date-time';
  throw invalidRequest([{ loc: [place, name], msg, type: 'datetime_parsing' }]);
}
