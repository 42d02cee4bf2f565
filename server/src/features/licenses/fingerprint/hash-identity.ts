import type { KeyedHashes } from '#server/lib/vault.ts';
import type { HashedIdentity } from './hashed-identity.ts';
import type { Component, MachineIdentity } from './identity.ts';
import { MAC_KEY } from './key-classes.ts';

const HASH_HEX_DIGITS = 32;
const NAME_HEX_DIGITS = 8;

/** Hashes an identity for storing and comparing; the same identity under the same master secret has the same hashes. */
export function hashIdentity(hashes: KeyedHashes, identity: MachineIdentity): HashedIdentity {
  const hashAll = (components: readonly Component[]): readonly string[] =>
    components.map((component) => hashComponent(hashes, component)).sort();
  const select = (keyClass: Component['class']): readonly Component[] =>
    identity.components.filter((component) => component.class === keyClass);
  const medium = select('medium');
  return {
    strong: hashAll(select('strong')),
    medium: [
      ...hashAll(medium.filter(({ name }) => name !== MAC_KEY)),
      ...hashAll(medium.filter(({ name }) => name === MAC_KEY)),
    ],
    weak: hashAll(select('weak')),
    digest: hashes.hashText('fingerprint', identity.canonical).slice(0, HASH_HEX_DIGITS),
  };
}

function hashComponent(hashes: KeyedHashes, { class: keyClass, name, value }: Component): string {
  const shownName =
    keyClass === 'weak' ? hashes.hashText('fingerprint-key', name).slice(-NAME_HEX_DIGITS) : name;
  return `${shownName}:${hashes.hashComponent(name, value).slice(0, HASH_HEX_DIGITS)}`;
}
