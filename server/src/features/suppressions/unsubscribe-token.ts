import { parseEmail } from '@latchkey/contract';

import type { Vault } from '#server/lib/vault.ts';

/** What the sealed address belongs to, so that nothing else that was sealed passes for a token. */
const LABEL = 'unsubscribe';

/** Longer than the token of the longest address. */
const MAX_TOKEN_CHARACTERS = 512;

/**
 * What stands for an address in the link of a mail: the address itself, sealed. It needs no row and never ends, for
 * mails are kept for years and a link to unsubscribe must work in all of them.
 */
export function makeUnsubscribeToken(vault: Pick<Vault, 'seal'>, email: string): string {
  return vault.seal(email, LABEL).toString('base64url');
}

/** The address that a token stands for; null for what is no token of this service. */
export function readUnsubscribeToken(vault: Pick<Vault, 'open'>, token: string): string | null {
  if (token.length > MAX_TOKEN_CHARACTERS || !/^[\w-]+$/u.test(token)) return null;
  try {
    const parsed = parseEmail(vault.open(Buffer.from(token, 'base64url'), LABEL));
    return 'fault' in parsed ? null : parsed.email;
  } catch {
    // Whatever was not sealed here, or was changed on the way, does not open; why is all the same.
    return null;
  }
}
