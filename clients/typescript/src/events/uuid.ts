/** Returns a random UUID (RFC 9562, version 4); `crypto.randomUUID` is missing on pages that are not from https. */
export function randomUuid(): string {
  return formatUuid(randomDigits(), 4);
}

/** Returns 32 random hexadecimal digits. */
export function randomDigits(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Sets version and variant in 32 hexadecimal digits. */
export function formatUuid(digits: string, version: number): string {
  return digits.replace(/(.{8})(.{4}).(.{3}).(.{3})/, `$1-$2-${version}$3-a$4-`);
}
