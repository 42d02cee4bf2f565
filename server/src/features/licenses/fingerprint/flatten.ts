import { classifyKey, type KnownKey } from './key-classes.ts';

/** One value of a fingerprint and what its key means. */
export interface FingerprintEntry {
  readonly key: KnownKey;
  /** As the client sent it. */
  readonly raw: unknown;
}

/**
 * The entries of a fingerprint, with nested objects flattened: `{disk: {serial: "x"}}` reads as `disk_serial`, and a known
 * key counts wherever it stands. The value of a known key is not flattened. Sorted, so that key order never matters.
 */
export function flattenFingerprint(
  fingerprint: Readonly<Record<string, unknown>>,
): readonly FingerprintEntry[] {
  return flattenObject(fingerprint, '');
}

function flattenObject(object: object, path: string): FingerprintEntry[] {
  const entries: FingerprintEntry[] = [];
  for (const [key, raw] of Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const known = classifyNested(path, key);
    if (known.class === 'weak' && isObject(raw)) {
      entries.push(...flattenObject(raw, `${path}${key}_`));
    } else {
      entries.push({ key: known, raw });
    }
  }
  return entries;
}

/** The whole path says more than the last key (`os.version`), but an unknown path may still end in a known key. */
function classifyNested(path: string, key: string): KnownKey {
  const whole = classifyKey(path + key);
  if (whole.class !== 'weak' || path === '') return whole;
  const last = classifyKey(key);
  return last.class === 'weak' ? whole : last;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
