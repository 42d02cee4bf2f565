import type { Vault } from '#server/lib/vault.ts';

import { makeUnsubscribeToken } from './unsubscribe-token.ts';

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
