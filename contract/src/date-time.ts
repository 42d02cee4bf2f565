const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt _](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:[Zz]|([+\-\u2212])(\d{2}):?(\d{2}))?$/;

const EARLIEST_MS = Date.parse('0001-01-01T00:00:00.000Z');
/** The last time in RFC 3339, in milliseconds since 1970. */
export const LATEST_DATE_TIME_MS = Date.parse('9999-12-31T23:59:59.999Z');
/** PostgreSQL accepts no offset beyond ±15:59. */
const MAX_OFFSET_MINUTES = 15 * 60 + 59;

/**
 * Parses an ISO 8601 date-time: seconds are optional, no offset means UTC.
 * Rejects bare dates, numbers in text, second 60, offsets beyond ±15:59, instants outside the years 0001 to 9999.
 * @returns the instant, truncated to milliseconds; undefined for an invalid text
 */
export function parseDateTime(text: string): Date | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', sign, ...offset] = match;
  const offsetMinutes = readOffsetMinutes(offset[0], offset[1]);
  if (offsetMinutes === undefined || !dayExists(Number(year), Number(month), Number(day))) {
    return undefined;
  }
  const millisecond = fraction.slice(0, 3).padEnd(3, '0');
  const localMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`);
  if (Number(hour) > 23 || Number.isNaN(localMs)) return undefined;
  const instantMs = localMs - (sign === '+' ? offsetMinutes : -offsetMinutes) * 60_000;
  return instantMs < EARLIEST_MS || instantMs > LATEST_DATE_TIME_MS
    ? undefined
    : new Date(instantMs);
}

function readOffsetMinutes(hours = '0', minutes = '0'): number | undefined {
  const total = Number(hours) * 60 + Number(minutes);
  return Number(minutes) > 59 || total > MAX_OFFSET_MINUTES ? undefined : total;
}

/** `Date.parse` converts 30 February to March, which would hide a mistake. */
function dayExists(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day <= days;
}
