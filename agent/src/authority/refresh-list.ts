import { withAuthority } from './authority.ts';
import type { AuthorityContext } from './context.ts';
import { ensureProxyCertificate } from './ensure-proxy-certificate.ts';
import { numberAnew } from './register.ts';

/** What was renewed. */
export interface Refreshed {
  readonly number: number;
  readonly isProxyRenewed: boolean;
}

/**
 * Makes the list of revoked certificates anew, since a list that is out of date lets nobody in, and the proxy's certificate
 * when its end is near.
 */
export async function refreshList(context: AuthorityContext): Promise<Refreshed> {
  return withAuthority(context, async (authority) => {
    await authority.commit(numberAnew(authority.register));
    const hasProxy = authority.register.certificates.some(({ purpose }) => purpose === 'proxy');
    const isProxyRenewed = hasProxy && (await ensureProxyCertificate(context, authority));
    return { number: authority.register.revocationsNumber, isProxyRenewed };
  });
}
