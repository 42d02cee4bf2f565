/** Encodes bytes in base64url without padding (RFC 4648, section 5). */
export function encodeBase64url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Encodes a text in UTF-8 and base64url. */
export function encodeText(text: string): string {
  return encodeBase64url(new TextEncoder().encode(text));
}

/**
 * Decodes base64url without padding. Returns null unless the text is what {@link encodeBase64url} returns for the bytes, so that no
 * two texts have the same bytes.
 */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w-]+$/.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return encodeBase64url(bytes) === text ? bytes : null;
}
