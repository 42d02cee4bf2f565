/**
 * A machine's identity as it is stored: nothing in it can be read, only compared.
 *
 * Each component is the text `name:hash`, its hash 32 hex digits (128 bits) of a keyed hash, which begins with
 * the id of the master secret. The name lets two
 * identities be compared component by component; it is the key's own for the known keys (`machineid`, `mac`) and 8 hex
 * digits of a keyed hash for all others, whose names are the client's business.
 */
export interface HashedIdentity {
  readonly strong: readonly string[];
  /** Hardware addresses last, since trials look at a bounded number of components. */
  readonly medium: readonly string[];
  readonly weak: readonly string[];
  /** Hash of the whole identity, 32 hex digits: two machines without any usable component are compared by it. */
  readonly digest: string;
}

/** The components as they are stored in one jsonb column; the digest has a column of its own. */
export function formatComponents({ strong, medium, weak }: HashedIdentity): string {
  return JSON.stringify({ strong, medium, weak });
}

/** The name in front of a stored component. */
export function componentName(component: string): string {
  return component.slice(0, component.indexOf(':'));
}
