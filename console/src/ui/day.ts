/** Days of the operator's time zone. */

/** Returns the time at which a day (`2026-11-20`) begins, in ISO 8601; '' for no day. */
export function beginOf(day: string): string {
  const time = new Date(`${day}T00:00`);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

/** Returns the day of a time; '' for none. */
export function dayOf(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

function pad(part: number): string {
  return String(part).padStart(2, '0');
}
