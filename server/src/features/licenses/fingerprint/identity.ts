import { hash } from 'node:crypto';

import { type KeyedHashes, SECRET_ID_DIGITS } from '#server/lib/vault.ts';

import { type KeyClass, MAC_KEY } from './key-classes.ts';

/** A normalised value of a fingerprint that identifies a machine. */
export interface Component {
  readonly class: Exclude<KeyClass, 'volatile'>;
  readonly name: string;
  readonly value: string;
}

/** A machine's identity in plain text, which is never stored. */
export interface MachineIdentity {
  /** Sorted, without duplicates. */
  readonly components: readonly Component[];
  /** Canonical JSON (RFC 8785) of the components, or of the whole fingerprint when none is usable. */
  readonly canonical: string;
  /** The client's id of this machine, verbatim; null when the fingerprint has none. */
  readonly machineId: string | null;
  /** Information only. */
  readonly osVersion: string | null;
  /** Information only. */
  readonly appVersion: string | null;
}

/**
 * A machine's identity as it is stored: hashes that can be compared but not read.
 *
 * Each component is the text `name:hash`: 32 hex digits (128 bits) of a keyed hash, which starts with the id of the
 * master secret. The name allows identities to be compared component by component; it is the key itself for known keys
 * (`machineid`, `mac`), and 8 hex digits of a keyed hash for all others.
 */
export interface HashedIdentity {
  readonly strong: readonly string[];
  /** Hardware addresses last, because trials read a bounded number of components. */
  readonly medium: readonly string[];
  readonly weak: readonly string[];
  /** Hash of the whole identity, 32 hex digits, which compares machines without a usable component. */
  readonly digest: string;
}

/** Formats the components for their jsonb column; the digest has a column of its own. */
export function formatComponents({ strong, medium, weak }: HashedIdentity): string {
  return JSON.stringify({ strong, medium, weak });
}

/** Returns the name of a stored component. */
function componentName(component: string): string {
  return component.slice(0, component.indexOf(':'));
}

const HASH_HEX_DIGITS = 32;
const NAME_HEX_DIGITS = 8;

/** Hashes an identity. The same identity and the same master secret result in the same hashes. */
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

/**
 * Returns whether two identities are of one machine: they are identical, or a strong component matches, or at least two
 * and at least half of the comparable components match, one of them medium. Symmetric.
 *
 * A component is comparable when both sides have its name. Of a name with several values (hardware addresses), the
 * smaller number of values is comparable, so that a docking station that adds an address does not prevent a match.
 */
export function isSameMachine(stored: HashedIdentity, presented: HashedIdentity): boolean {
  if (stored.digest === presented.digest) return true;
  if (sharesStrongComponent(stored, presented)) return true;
  const mediumMatches = countShared(stored.medium, presented.medium);
  if (mediumMatches === 0) return false;
  const matches = mediumMatches + countShared(stored.weak, presented.weak);
  const comparable = countComparable(stored, presented);
  return matches >= Math.max(2, Math.ceil(comparable / 2));
}

/** Returns whether two identities share a component that is unique by design. */
export function sharesStrongComponent(one: HashedIdentity, other: HashedIdentity): boolean {
  return countShared(one.strong, other.strong) > 0;
}

function countShared(one: readonly string[], other: readonly string[]): number {
  return one.filter((component) => other.includes(component)).length;
}

function countComparable(one: HashedIdentity, other: HashedIdentity): number {
  const otherCounts = countNames(other);
  let comparable = 0;
  for (const [name, count] of countNames(one)) {
    comparable += Math.min(count, otherCounts.get(name) ?? 0);
  }
  return comparable;
}

function countNames(identity: HashedIdentity): Map<string, number> {
  const counts = new Map<string, number>();
  for (const component of [...identity.strong, ...identity.medium, ...identity.weak]) {
    const name = componentName(component);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/**
 * The medium components that are paired: five serial numbers and eight hardware addresses, which is all of them unless
 * a client sends one under several spellings of its key. They form 78 pairs.
 */
const MAX_CLAIMING_MEDIUMS = 13;

const CLAIM_HEX_DIGITS = 32;

type ClaimKind = 'strong' | 'pair' | 'whole';

/**
 * Returns the claims of a machine on a trial: every strong component, every pair of medium ones, and the whole
 * identity. Two machines share a trial exactly when their claims intersect, that is when a strong or two of the paired
 * medium components match or the identities are the same. So a unique index over the claims enforces one trial per
 * machine.
 * @returns sorted and unique texts of 32 hex digits (128 bits), which start with the id of the master secret
 */
export function trialClaims(identity: HashedIdentity): string[] {
  // SHA-256 needs no key here: its inputs are keyed hashes.
  const secretId = identity.digest.slice(0, SECRET_ID_DIGITS);
  const digestClaim = (kind: ClaimKind, text: string): string =>
    secretId + hash('sha256', `${kind} ${text}`, 'hex').slice(SECRET_ID_DIGITS, CLAIM_HEX_DIGITS);
  const claims = new Set([digestClaim('whole', identity.digest)]);
  for (const component of identity.strong) claims.add(digestClaim('strong', component));
  const mediums = identity.medium.slice(0, MAX_CLAIMING_MEDIUMS).sort();
  mediums.forEach((first, index) => {
    for (const second of mediums.slice(index + 1)) {
      claims.add(digestClaim('pair', `${first} ${second}`));
    }
  });
  return [...claims].sort();
}
