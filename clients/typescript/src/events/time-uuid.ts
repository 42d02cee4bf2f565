import { formatUuid, randomDigits } from './uuid.ts';

/** Returns a UUID that begins with a time (RFC 9562, version 7), so that neighbours in time are neighbours in an index. */
export function timeUuid(milliseconds: number): string {
  const time = Math.floor(milliseconds).toString(16).padStart(12, '0');
  return formatUuid(time + randomDigits().slice(12), 7);
}
