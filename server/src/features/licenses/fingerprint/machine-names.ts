import type { FingerprintEntry } from './flatten.ts';
import { STRONG_KEYS } from './key-classes.ts';
import { normalizeValue } from './normalize-value.ts';

const MAX_NOTE_CHARACTERS = 200;

/**
 * What the client calls its machine: `machine_id`, or else the first strong component. Verbatim, since the client repeats
 * it with every validation; a value that is not text counts as its JSON text.
 */
export function findMachineId(entries: readonly FingerprintEntry[]): string | null {
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
export function findNote(
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
