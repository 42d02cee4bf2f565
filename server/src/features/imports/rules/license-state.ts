/**
 * What happened to an imported license.
 * - `untouched`: nothing since its import; an undo removes it.
 * - `linked`: it existed before the import, which added at most a key that nobody used; an undo removes the key.
 * - `activated`, `paid`, `changed`: a machine uses it, a payment belongs to it, or it was changed; an undo keeps it.
 */
export type LicenseState = 'untouched' | 'linked' | 'activated' | 'paid' | 'changed';

/** Returns the state of an imported license. */
export function stateOf(license: {
  readonly isCreated: boolean;
  readonly isActivated: boolean;
  readonly isPaid: boolean;
  readonly isChanged: boolean;
}): LicenseState {
  if (license.isActivated) return 'activated';
  if (!license.isCreated) return 'linked';
  if (license.isPaid) return 'paid';
  return license.isChanged ? 'changed' : 'untouched';
}
