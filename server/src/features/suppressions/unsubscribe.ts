import { parseEmail } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import type { Vault } from '#server/lib/vault.ts';

import { hashAddress } from './address-hash.ts';
import { insertSuppression } from './queries.ts';
import { rewriteAddresses } from './rewrite-addresses.ts';

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

/** What making the link takes. */
interface LinkContext {
  readonly vault: Pick<Vault, 'seal'>;
  readonly config: { readonly http: { readonly publicUrl: string } };
}

/** Where the owner of an address says that he wants no mail. */
export function makeUnsubscribeUrl({ vault, config }: LinkContext, email: string): string {
  return `${config.http.publicUrl}/u/${makeUnsubscribeToken(vault, email)}`;
}

/**
 * The header fields by which a mail program offers its own button (RFC 2369, RFC 8058). They must be part of the DKIM
 * signature, and mail programs act on https alone.
 */
export function makeUnsubscribeHeaders(
  ctx: LinkContext,
  email: string,
): Readonly<Record<'List-Unsubscribe' | 'List-Unsubscribe-Post', string>> {
  return {
    'List-Unsubscribe': `<${makeUnsubscribeUrl(ctx, email)}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

/**
 * Keeps newsletter and outreach from the address that a link stands for, however often it is asked.
 * @returns the address; null for a token that is none, of which nothing follows
 */
export async function unsubscribe(
  ctx: Pick<Context, 'vault' | 'pool' | 'databaseLimiter' | 'clock'>,
  token: string,
): Promise<string | null> {
  const email = readUnsubscribeToken(ctx.vault, token);
  if (email === null) return null;
  const addressHash = hashAddress(ctx.vault, email);
  const suppressedAt = ctx.clock.now();
  await ctx.databaseLimiter.run(async () => {
    await rewriteAddresses(ctx, [email]);
    await insertSuppression(ctx.pool, { addressHash, reason: 'unsubscribed', suppressedAt });
  });
  return email;
}
