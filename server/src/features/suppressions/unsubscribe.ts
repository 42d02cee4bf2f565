import { parseEmail } from '@latchkey/contract';

import type { Clock } from '#server/clock.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { Vault } from '#server/lib/vault.ts';

import { hashAddress } from './address-hash.ts';
import { insertSuppression } from './queries/suppressions.ts';
import { rewriteAddresses, type AddressDependencies } from './stored-addresses.ts';

/** The label of the sealed address: no other sealed text is accepted as a token. */
const LABEL = 'unsubscribe';

/** Longer than the token of the longest address. */
const MAX_TOKEN_CHARACTERS = 512;

/**
 * Returns the token of an unsubscribe link: the sealed address. It has no row and does not expire, because mails are kept
 * for years.
 */
export function createUnsubscribeToken(vault: Pick<Vault, 'seal'>, email: string): string {
  return vault.seal(email, LABEL).toString('base64url');
}

/** Returns the address of a token, or null for an invalid one. */
export function openUnsubscribeToken(vault: Pick<Vault, 'open'>, token: string): string | null {
  if (token.length > MAX_TOKEN_CHARACTERS || !/^[\w-]+$/u.test(token)) return null;
  try {
    const parsed = parseEmail(vault.open(Buffer.from(token, 'base64url'), LABEL));
    return 'fault' in parsed ? null : parsed.email;
  } catch {
    // Not sealed by this service, or modified.
    return null;
  }
}

interface LinkDependencies {
  readonly vault: Pick<Vault, 'seal'>;
  readonly config: { readonly http: { readonly publicUrl: string } };
}

export function createUnsubscribeUrl({ vault, config }: LinkDependencies, email: string): string {
  return `${config.http.publicUrl}/u/${createUnsubscribeToken(vault, email)}`;
}

/**
 * Returns the header fields for the unsubscribe button of mail programs (RFC 2369, RFC 8058). They must be signed by DKIM,
 * and mail programs accept https only.
 */
export function createUnsubscribeHeaders(
  deps: LinkDependencies,
  email: string,
): Readonly<Record<'List-Unsubscribe' | 'List-Unsubscribe-Post', string>> {
  return {
    'List-Unsubscribe': `<${createUnsubscribeUrl(deps, email)}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

export interface UnsubscribeDependencies extends AddressDependencies {
  readonly clock: Clock;
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly vault: AddressDependencies['vault'] & Pick<Vault, 'open'>;
}

/**
 * Suppresses newsletter and outreach for the address of an unsubscribe link. Idempotent.
 * @returns the address, or null for an invalid token
 */
export async function unsubscribe(
  deps: UnsubscribeDependencies,
  token: string,
): Promise<string | null> {
  const { clock, databaseLimiter, pool, vault } = deps;
  const email = openUnsubscribeToken(vault, token);
  if (email === null) return null;
  const addressHash = hashAddress(vault, email);
  const suppressedAt = clock.now();
  await databaseLimiter.run(async () => {
    await rewriteAddresses(deps, [email]);
    await insertSuppression(pool, { addressHash, reason: 'unsubscribed', suppressedAt });
  });
  return email;
}
