/** Up to what a number holds exactly. */
const AMOUNT = /^-?\d{1,15}$/;

/** Reads an amount in the currency's smallest unit, which Paddle writes as a text; null for what is none. */
export function readAmount(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && AMOUNT.test(text) ? Number(text) : null;
}
