/** Including the keys of nested objects. */
const MAX_FINGERPRINT_KEYS = 32;

/** The nesting of objects and arrays: `{a: {b: {c: 1}}}` has depth 3. */
const MAX_FINGERPRINT_DEPTH = 3;

/** The length of its JSON in UTF-8. */
const MAX_FINGERPRINT_BYTES = 8192;

/** Returns why an object is not a valid fingerprint, as a sentence; undefined when it is valid. */
export function findFingerprintProblem(
  fingerprint: Readonly<Record<string, unknown>>,
): string | undefined {
  // Depth is checked first: the other checks walk the whole value, and a deep one would exhaust the stack.
  if (isDeeperThan(fingerprint, MAX_FINGERPRINT_DEPTH)) {
    return `machine_fingerprint must not nest deeper than ${MAX_FINGERPRINT_DEPTH} levels`;
  }
  const keys = countKeys(fingerprint);
  if (keys === 0) return 'machine_fingerprint must not be empty';
  if (keys > MAX_FINGERPRINT_KEYS) {
    return `machine_fingerprint must not have more than ${MAX_FINGERPRINT_KEYS} keys`;
  }
  const json = JSON.stringify(fingerprint);
  if (Buffer.byteLength(json, 'utf8') > MAX_FINGERPRINT_BYTES) {
    return `machine_fingerprint must not be longer than ${MAX_FINGERPRINT_BYTES} bytes of JSON`;
  }
  if (holdsUnstorableText(fingerprint)) {
    return 'machine_fingerprint must not hold null characters or lone surrogates';
  }
  if (holdsInfinity(fingerprint)) {
    return 'machine_fingerprint must not hold numbers too large for a double (IEEE 754)';
  }
  return undefined;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((child) => isDeeperThan(child, levels - 1));
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, child) => sum + countKeys(child), own);
}

/** PostgreSQL stores neither U+0000 nor lone surrogates in a text. */
function holdsUnstorableText(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some((entry) => entry.some(holdsUnstorableText));
}

/** `1e999` is JSON and parses as Infinity, for which canonical JSON (RFC 8785) has no text. */
function holdsInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInfinity);
}
