/** More fits neither into a cookie nor into a QR code that a telephone can read. */
const MAX_CHARACTERS = 2_500;

/** Without spaces and line breaks, as in the address of a QR code, and as a cookie can have it. */
const REQUEST = /^LKR\d+\.[\w-]+\.[\w-]+$/u;

/** Reads the request of a machine from the address that a telephone opened; null if it is none. */
export function readScannedRequest(text: string | null): string | null {
  if (text === null || text.length > MAX_CHARACTERS) return null;
  return REQUEST.test(text) ? text : null;
}
