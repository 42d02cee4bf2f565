import { MAX_MACHINE_ID_LENGTH } from '@latchkey/contract';

import type { MachineIdentity, Component } from './identity.ts';
import { classifyKey, type KnownKey, MAC_KEY, STRONG_KEYS } from './key-classes.ts';
import { findFingerprintProblem } from './limits.ts';
import { toCanonicalJson, readMacAddresses, normalizeValue } from './normalize.ts';

/** The identity of a fingerprint, or its problem: a sentence for a 422 at `["body", "machine_fingerprint"]`. */
export type FingerprintReading =
  | { readonly ok: true; readonly identity: MachineIdentity }
  | { readonly ok: false; readonly message: string };

/** Rejected here because the machine could never validate with it. */
const MACHINE_ID_TOO_LONG = `machine_fingerprint must not name the machine in more than ${MAX_MACHINE_ID_LENGTH} characters`;

/**
 * Reads the free-form object that a client sends as its machine's fingerprint. The order and the spelling of its keys
 * (`machineId`, `machine_id`) do not matter, nor do case and blanks in values.
 * @param fingerprint the parsed JSON object
 */
export function readFingerprint(
  fingerprint: Readonly<Record<string, unknown>>,
): FingerprintReading {
  const problem = findFingerprintProblem(fingerprint);
  if (problem !== undefined) return { ok: false, message: problem };
  const entries = flatten(fingerprint);
  const machineId = findMachineId(entries);
  if (machineId !== null && Array.from(machineId).length > MAX_MACHINE_ID_LENGTH) {
    return { ok: false, message: MACHINE_ID_TOO_LONG };
  }
  const components = collectComponents(entries);
  const identity: MachineIdentity = {
    components,
    canonical: toCanonicalJson(components.length > 0 ? components : fingerprint),
    machineId,
    osVersion: findVersion(entries, 'osversion'),
    appVersion: findVersion(entries, 'appversion'),
  };
  return { ok: true, identity };
}

/** A value of a fingerprint and its classified key. */
interface FingerprintEntry {
  readonly key: KnownKey;
  /** As the client sent it. */
  readonly raw: unknown;
}

/**
 * Returns the entries of a fingerprint, with nested objects flattened: `{disk: {serial: "x"}}` is read as `disk_serial`,
 * and a known key is recognized at any depth. The value of a known key is not flattened. Sorted by key.
 */
function flatten(object: object, path = ''): FingerprintEntry[] {
  const entries: FingerprintEntry[] = [];
  for (const [key, raw] of Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const known = classifyNested(path, key);
    if (known.class === 'weak' && isObject(raw)) {
      entries.push(...flatten(raw, `${path}${key}_`));
    } else {
      entries.push({ key: known, raw });
    }
  }
  return entries;
}

/** Classifies by the whole path (`os.version`), or else by its last key. */
function classifyNested(path: string, key: string): KnownKey {
  const whole = classifyKey(path + key);
  if (whole.class !== 'weak' || path === '') return whole;
  const last = classifyKey(key);
  return last.class === 'weak' ? whole : last;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** More hardware addresses than this add nothing, and would outweigh all other components. */
const MAX_MAC_ADDRESSES = 8;

/** Returns the components of entries, sorted by name and value, unique, without placeholders. */
function collectComponents(entries: readonly FingerprintEntry[]): readonly Component[] {
  const sorted = entries.flatMap(readComponents).sort(compareComponents);
  const unique = sorted.filter((component, index) => {
    const previous = sorted[index - 1];
    return previous === undefined || compareComponents(previous, component) !== 0;
  });
  return limitMacAddresses(unique);
}

function readComponents({ key, raw }: FingerprintEntry): Component[] {
  if (key.class === 'volatile') return [];
  const { class: keyClass, name } = key;
  if (name === MAC_KEY) {
    return readMacAddresses(raw).map((value) => ({ class: keyClass, name, value }));
  }
  const value = normalizeValue(raw);
  return value === undefined ? [] : [{ class: keyClass, name, value }];
}

function limitMacAddresses(components: readonly Component[]): readonly Component[] {
  let seen = 0;
  return components.filter(({ name }) => name !== MAC_KEY || (seen += 1) <= MAX_MAC_ADDRESSES);
}

function compareComponents(a: Component, b: Component): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  if (a.value !== b.value) return a.value < b.value ? -1 : 1;
  return 0;
}

const MAX_VERSION_CHARACTERS = 200;

/**
 * Returns the client's id of its machine: `machine_id`, or else the first strong component. Verbatim, because the client
 * repeats it with every validation; a value that is not text is converted to JSON.
 */
function findMachineId(entries: readonly FingerprintEntry[]): string | null {
  for (const name of STRONG_KEYS) {
    for (const { key, raw } of entries) {
      if (key.name === name && isMachineId(name, raw)) {
        return typeof raw === 'string' ? raw : JSON.stringify(raw);
      }
    }
  }
  return null;
}

/** A `machine_id` may be a placeholder, because the client repeats it anyway; a substitute may not. */
function isMachineId(name: string, raw: unknown): boolean {
  if (name !== 'machineid') return normalizeValue(raw) !== undefined;
  return typeof raw === 'string' ? raw.trim() !== '' : raw !== null;
}

/** Returns a volatile value for display, cut to 200 characters. */
function findVersion(
  entries: readonly FingerprintEntry[],
  name: 'osversion' | 'appversion',
): string | null {
  for (const { key, raw } of entries) {
    if (key.name === name && (typeof raw === 'string' || typeof raw === 'number')) {
      const text = String(raw).trim().slice(0, MAX_VERSION_CHARACTERS).toWellFormed();
      if (text !== '') return text;
    }
  }
  return null;
}
