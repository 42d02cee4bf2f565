/** Formats 32 hexadecimal digits as a UUID; further digits are ignored. */
export function formatUuid(digits: string): string {
  const node = digits.slice(20, 32);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${node}`;
}
