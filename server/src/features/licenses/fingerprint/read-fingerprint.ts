import { MAX_MACHINE_ID_LENGTH } from '@latchkey/contract';

import type { MachineIdentity, Component } from './identity.ts';
import { classifyKey, type KnownKey, MAC_KEY, STRONG_KEYS } from './key-classes.ts';
import { findProblem } from './limits.ts';
import { toCanonicalJson, readMacAddresses, normalizeValue } from './normalize.ts';

/** A fingerprint as it was read, or why it cannot be: a sentence for a 422 at `["body", "machine_fingerprint"]`. */
export type FingerprintReading =
  | { readonly ok: true; readonly identity: MachineIdentity }
  | { readonly ok: false; readonly message: string };

/** Refused here because the machine could never validate with it. */
const TOO_LONG_A_NAME = `machine_fingerprint must not name the machine in more than ${MAX_MACHINE_ID_LENGTH} characters`;

/**
 * Reads the free-form object that a client sends as its machine's fingerprint.
 * Neither the order of its keys nor their spelling matters (`machineId`, `machine_id`), nor case and blanks in values.
 * @param fingerprint the parsed JSON object
 */
export function readFingerprint(
  fingerprint: Readonly<Record<string, unknown>>,
): FingerprintReading {
  const problem = findProblem(fingerprint);
  if (problem !== undefined) return { ok: false, message: problem };
  const entries = flattenFingerprint(fingerprint);
  const machineId = findMachineId(entries);
  if (machineId !== null && Array.from(machineId).length > MAX_MACHINE_ID_LENGTH) {
    return { ok: false, message: TOO_LONG_A_NAME };
  }
  const components = collectComponents(entries);
  const identity: MachineIdentity = {
    components,
    canonical: toCanonicalJson(components.length > 0 ? components : fingerprint),
    machineId,
    osVersion: findNote(entries, 'osversion'),
    appVersion: findNote(entries, 'appversion'),
  };
  return { ok: true, identity };
}

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
function flattenFingerprint(
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

/** More hardware addresses than this add nothing, and would crowd out everything else. */
const MAX_MAC_ADDRESSES = 8;

/** The components of a fingerprint's entries, sorted by name and value, each once, without those that say nothing. */
function collectComponents(entries: readonly FingerprintEntry[]): readonly Component[] {
  const sorted = entries.flatMap(readComponents).sort(compareComponents);
  const unique = sorted.filter((component, index) => {
    const previous = sorted[index - 1];
    return previous === undefined || compareComponents(previous, component) !== 0;
  });
  return boundMacAddresses(unique);
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

function boundMacAddresses(components: readonly Component[]): readonly Component[] {
  let seen = 0;
  return components.filter(({ name }) => name !== MAC_KEY || (seen += 1) <= MAX_MAC_ADDRESSES);
}

function compareComponents(a: Component, b: Component): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  if (a.value !== b.value) return a.value < b.value ? -1 : 1;
  return 0;
}

const MAX_NOTE_CHARACTERS = 200;

/**
 * What the client calls its machine: `machine_id`, or else the first strong component. Verbatim, since the client repeats
 * it with every validation; a value that is not text counts as its JSON text.
 */
function findMachineId(entries: readonly FingerprintEntry[]): string | null {
  for (const name of STRONG_KEYS) {
    for (const { key, raw } of entries) {
      if (key.name === name && isTelling(name, raw)) {
        return typeof raw === 'string' ? raw : JSON.stringify(raw);
      }
    }
  }
  return null;
}

/** A `machine_id` may be a placeholder, since the client repeats it anyway; a stand-in for it may not. */
function isTelling(name: string, raw: unknown): boolean {
  if (name !== 'machineid') return normalizeValue(raw) !== undefined;
  return typeof raw === 'string' ? raw.trim() !== '' : raw !== null;
}

/** A volatile value that is worth showing, cut to a sane length. */
function findNote(
  entries: readonly FingerprintEntry[],
  name: 'osversion' | 'appversion',
): string | null {
  for (const { key, raw } of entries) {
    if (key.name === name && (typeof raw === 'string' || typeof raw === 'number')) {
      const text = String(raw).trim().slice(0, MAX_NOTE_CHARACTERS).toWellFormed();
      if (text !== '') return text;
    }
  }
  return null;
}
