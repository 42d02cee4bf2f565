import type { KeyClass } from './key-classes.ts';

/** One value that helps to know a machine again, normalised. */
export interface Component {
  readonly class: Exclude<KeyClass, 'volatile'>;
  readonly name: string;
  readonly value: string;
}

/** What a fingerprint says, still readable: it lives in memory only and is hashed before it is stored. */
export interface MachineIdentity {
  /** Sorted, without doubles. */
  readonly components: readonly Component[];
  /** Canonical JSON (RFC 8785): of the components, or of the whole fingerprint when it has no usable one. */
  readonly canonical: string;
  /** What the client calls this machine, verbatim; null when the fingerprint does not say. */
  readonly machineId: string | null;
  /** Information only. */
  readonly osVersion: string | null;
  /** Information only. */
  readonly appVersion: string | null;
}
