import {
  MAX_FLEET_LABEL_LENGTH,
  MAX_FLEET_LABELS,
  MAX_FLEET_NAME_LENGTH,
} from '@latchkey/contract';

import { parseAddress } from './address.ts';

/** A server as operators enter it. */
export interface ServerEntry {
  readonly name: string;
  readonly address: string;
  readonly labels: readonly string[];
}

/** Why a field of an entry is invalid. */
export interface EntryProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Normalises an entry: trims its texts, parses its address, and removes repeated labels. */
export function readEntry(
  entry: ServerEntry,
): { readonly entry: ServerEntry } | { readonly problem: EntryProblem } {
  const name = entry.name.trim();
  if (!isPrintable(name, MAX_FLEET_NAME_LENGTH)) {
    return problem(['name'], `Enter a name of 1 to ${MAX_FLEET_NAME_LENGTH} printable characters`);
  }
  const parsed = parseAddress(entry.address);
  if ('problem' in parsed) return problem(['address'], parsed.problem);
  const labels = [...new Set(entry.labels.map((label) => label.trim()))];
  if (labels.length > MAX_FLEET_LABELS) {
    return problem(['labels'], `Enter at most ${MAX_FLEET_LABELS} labels`);
  }
  // A comma separates labels wherever several are one text.
  if (labels.some((label) => label.includes(',') || !isPrintable(label, MAX_FLEET_LABEL_LENGTH))) {
    const characters = `1 to ${MAX_FLEET_LABEL_LENGTH} printable characters`;
    return problem(['labels'], `Enter labels of ${characters}, without a comma`);
  }
  return { entry: { name, address: parsed.address, labels } };
}

function isPrintable(text: string, maxLength: number): boolean {
  return text !== '' && Array.from(text).length <= maxLength && !/\p{Cc}/u.test(text);
}

function problem(path: EntryProblem['path'], message: string) {
  return { problem: { path, message } };
}
