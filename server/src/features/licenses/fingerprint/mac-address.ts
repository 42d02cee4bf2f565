import { normalizeValue } from './normalize-value.ts';

const LOCALLY_ADMINISTERED = 0x02;
const HEX_DIGITS = /^[0-9a-f]{12}$/u;

/**
 * The hardware addresses in a value of any shape: a text (several separated by commas, semicolons or blanks), an array,
 * or an object by interface. Locally administered ones (containers, `02:42:…`, random Wi-Fi) and zeros are left out,
 * since they change or are shared by many machines.
 */
export function readMacAddresses(value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).flatMap(readMacAddresses);
  }
  if (typeof value !== 'string') return [];
  return value.split(/[\s,;]+/u).flatMap((part) => {
    const address = normalizeMacAddress(part);
    return address === undefined ? [] : [address];
  });
}

/** What does not look like an address may be the hash of one, and is kept as it is. */
function normalizeMacAddress(text: string): string | undefined {
  const normalized = normalizeValue(text);
  const digits = normalized?.replace(/[:.-]/gu, '');
  if (digits === undefined || !HEX_DIGITS.test(digits)) return normalized;
  const firstByte = Number.parseInt(digits.slice(0, 2), 16);
  return (firstByte & LOCALLY_ADMINISTERED) === 0 ? digits : undefined;
}
