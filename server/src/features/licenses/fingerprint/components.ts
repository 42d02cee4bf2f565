import type { FingerprintEntry } from './flatten.ts';
import type { Component } from './identity.ts';
import { MAC_KEY } from './key-classes.ts';
import { readMacAddresses } from './mac-address.ts';
import { normalizeValue } from './normalize-value.ts';

/** More hardware addresses than this add nothing, and would crowd out everything else. */
const MAX_MAC_ADDRESSES = 8;

/** The components of a fingerprint's entries, sorted by name and value, each once, without those that say nothing. */
export function collectComponents(entries: readonly FingerprintEntry[]): readonly Component[] {
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
