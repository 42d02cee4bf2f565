import { randomBytes } from 'node:crypto';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { hashAddress } from '../suppressions/address-hash.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { openValue, sealValue } from './sealed-value.ts';

/** How long a browser is known after its last sign-in. */
export const KNOWN_BROWSER_TERM_MS = 180 * 86_400_000;

const LABEL = 'buyer-known-browser';

const ID_BYTES = 16;

const KnownBrowser = Type.Object({
  id: Type.String(),
  addressHash: Type.String(),
  expiresAtMs: Type.Integer(),
});

/**
 * Returns what a browser keeps after it signed in with a code: with it, it gets further codes for that address, also when others
 * asked for too many. It signs nobody in.
 */
export function sealKnownBrowser(
  deps: Pick<BuyerDependencies, 'clock' | 'vault'>,
  email: string,
): string {
  return sealValue(deps, LABEL, {
    id: randomBytes(ID_BYTES).toString('base64url'),
    addressHash: hashAddress(deps.vault, email),
    expiresAtMs: deps.clock.now().getTime() + KNOWN_BROWSER_TERM_MS,
  });
}

/** Returns the id of a browser that signed in with an address before; null: it did not, or long ago. */
export function readKnownBrowser(
  deps: Pick<BuyerDependencies, 'clock' | 'vault'>,
  sealed: string | null,
  addressHash: string,
): string | null {
  const browser = openValue(deps, LABEL, (value) => Parse(KnownBrowser, value), sealed);
  return browser?.addressHash === addressHash ? browser.id : null;
}
