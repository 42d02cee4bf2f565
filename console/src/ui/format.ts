/** Formats of numbers and times in the browser's locale and time zone; days of reports are in UTC, relative times in English. */

import { decimalsOf } from '@latchkey/contract/payment-providers';

/** Creates a format at its first use: creating one takes milliseconds, which would delay the first page. */
function lazy<Format>(create: () => Format): () => Format {
  let format: Format | undefined;
  return () => (format ??= create());
}

const numbers = lazy(() => new Intl.NumberFormat());
const percents = lazy(
  () => new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 }),
);
const dates = lazy(() => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }));
const shortDates = lazy(
  () => new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' }),
);
const utcDays = lazy(
  () => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' }),
);
const times = lazy(
  () => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }),
);
const exactTimes = lazy(
  () => new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' }),
);
const relative = lazy(() => new Intl.RelativeTimeFormat('en', { numeric: 'auto' }));

/** Such as `12,345`. */
export function formatNumber(value: number): string {
  return numbers().format(value);
}

/** @param ratio 0 to 1 */
export function formatPercent(ratio: number): string {
  return percents().format(ratio);
}

/** Such as `Nov 22, 2026`. */
export function formatDate(time: string | Date): string {
  return dates().format(new Date(time));
}

/** A day of a report, which is one in UTC everywhere. @param day such as `2026-11-22` */
export function formatDay(day: string): string {
  return utcDays().format(new Date(day));
}

/** Without the year, such as `Nov 22`. */
export function formatShortDate(time: string | Date): string {
  return shortDates().format(new Date(time));
}

/** Such as `Nov 22, 2026, 10:15 PM`. */
export function formatTime(time: string | Date): string {
  return times().format(new Date(time));
}

/** With weekday, seconds and time zone. */
export function formatExactTime(time: string | Date): string {
  return exactTimes().format(new Date(time));
}

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** Such as `3 days ago`, `in 2 hours`, `just now`. */
export function formatRelative(time: string | Date, nowMs: number): string {
  const seconds = (new Date(time).getTime() - nowMs) / 1000;
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  if (unit === undefined) return seconds > 5 ? 'in a moment' : 'just now';
  return relative().format(Math.trunc(seconds / unit[1]), unit[0]);
}

/**
 * Amount in the smallest unit of a currency, such as 1990 USD.
 * @param provider the payment provider, whose rule determines the smallest unit
 */
export function formatMoney(minorUnits: number, currency: string, provider: string): string {
  const decimals = decimalsOf(provider, currency);
  const usual = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  const { minimumFractionDigits = 2 } = usual.resolvedOptions();
  const format = new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    minimumFractionDigits: Math.min(minimumFractionDigits, decimals),
    maximumFractionDigits: decimals,
  });
  return format.format(minorUnits / 10 ** decimals);
}
