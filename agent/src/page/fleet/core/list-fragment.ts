import { hostOfMachine, parseMachineAddress, shortenMachineAddress } from './machine-address.ts';
import type { ListedMachine } from './types.ts';

/*
 * The list in the fragment of the page's address: `#m=ADDRESS;NAME;LABEL;LABEL&m=…`. Each part is percent-encoded, and all but
 * the address may be left out. Anyone can write a link, so everything is limited and checked.
 */

/** With 150 connections open and turns of 30 s, each of so many machines has a turn within its history of 300 s. */
export const MAX_LISTED_MACHINES = 1000;
const MAX_FRAGMENT_LENGTH = 200_000;
const MAX_NAME_LENGTH = 100;
const MAX_LABEL_LENGTH = 60;
const MAX_LABELS = 10;

/** Control characters, and those that change the direction of text, with which a name could imitate another. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A parsed fragment. */
export interface FragmentList {
  readonly machines: readonly ListedMachine[];
  /** Entries that are invalid, name an address again, or exceed the limits. */
  readonly ignored: number;
}

/** Reads the list in a fragment, with or without `#`. The id of a machine is its address. */
export function readListFragment(fragment: string): FragmentList {
  if (fragment.length > MAX_FRAGMENT_LENGTH) return { machines: [], ignored: 1 };
  const entries = fragment
    .replace(/^#/u, '')
    .split('&')
    .filter((each) => each.startsWith('m='));
  const machines = new Map<string, ListedMachine>();
  for (const entry of entries) {
    if (machines.size === MAX_LISTED_MACHINES) break;
    const machine = readEntry(entry.slice(2));
    if (machine !== null && !machines.has(machine.id)) machines.set(machine.id, machine);
  }
  return { machines: [...machines.values()], ignored: entries.length - machines.size };
}

/** Writes a list as a fragment with `#`; empty for an empty list. */
export function writeListFragment(list: readonly ListedMachine[]): string {
  if (list.length === 0) return '';
  return `#${list.map((machine) => `m=${writeEntry(machine)}`).join('&')}`;
}

function readEntry(entry: string): ListedMachine | null {
  const [first = '', second = '', ...others] = entry.split(';').map(decodePart);
  const address = parseMachineAddress(first);
  if (address === null) return null;
  const name = cleanText(second, MAX_NAME_LENGTH);
  const labels = others
    .map((label) => cleanText(label, MAX_LABEL_LENGTH))
    .filter((each) => each !== '');
  return {
    id: address,
    name: name === '' ? hostOfMachine(address) : name,
    address,
    labels: [...new Set(labels)].slice(0, MAX_LABELS),
  };
}

function writeEntry({ address, name, labels }: ListedMachine): string {
  const written = parseMachineAddress(address) ?? address;
  const parts = [
    shortenMachineAddress(written),
    name === hostOfMachine(written) ? '' : name,
    ...labels,
  ];
  const encoded = parts.map((part) =>
    encodeURIComponent(part.toWellFormed()).replaceAll('%3A', ':').replaceAll('%2F', '/'),
  );
  return encoded.join(';').replace(/(?<!;);+$/u, '');
}

/** Decodes a part; empty when it is malformed. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not written by this page: the entry loses this part, or is ignored without an address.
    return '';
  }
}

function cleanText(text: string, maxLength: number): string {
  const cleaned = text.replaceAll(INVISIBLE, '').trim();
  // By code points, so that no surrogate is left alone.
  return cleaned.length <= maxLength ? cleaned : Array.from(cleaned).slice(0, maxLength).join('');
}
