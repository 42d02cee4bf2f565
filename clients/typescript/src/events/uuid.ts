/** Returns a random UUID (RFC 9562, version 4); `crypto.randomUUID` is missing on pages that are not from https. */
export function randomUuid(): string {
  return format(randomDigits(), 4);
}

/** Returns a UUID that begins with a time (RFC 9562, version 7), so that neighbours in time are neighbours in an index. */
export function timeUuid(milliseconds: number): string {
  const time = Math.floor(milliseconds).toString(16).padStart(12, '0');
  return format(time + randomDigits().slice(12), 7);
}

function randomDigits(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Sets version and variant in 32 hexadecimal digits. */
function format(digits: string, version: number): string {
  return digits.replace(/(.{8})(.{4}).(.{3}).(.{3})/, `$1-$2-${version}$3-a$4-`);
}
