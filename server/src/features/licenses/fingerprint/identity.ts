import type { KeyClass } from './key-classes.ts';

/** One normalised value that helps to recognise a machine. */
export interface Component {
  readonly class: Exclude<KeyClass, 'volatile'>;
  readonly name: string;
  readonly value: string;
}

/** What a fingerprint says, still readable: it is kept in memory only and hashed before it is stored. */
export interface MachineIdentity {
  /** Sorted, without duplicates. */
  readonly components: readonly Component[];
  /** Canonical JSON (RFC 8785) of the components, or of the whole fingerprint when none is usable. */
  readonly canonical: string;
  /** What the client calls this machine, verbatim; null when the fingerprint does not say. */
  readonly machineId: string | null;
  /** Information only. */
  readonly osVersion: string | null;
  /** Information only. */
  readonly appVersion: string | null;
}
