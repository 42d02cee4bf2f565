import type { Context } from '#server/context.ts';

import { hashAddressUnderAll } from './rewrite-addresses.ts';
import { listSuppressed } from './queries.ts';

/**
 * Which of some addresses get no mail, under whatever master secret that is stored; one answer for each, in order. One
 * statement reads all hashes, so that a rotation that rewrites a row meanwhile does not hide it.
 */
export async function listSuppressedAddresses(
  { pool, vault }: Pick<Context, 'pool' | 'vault'>,
  emails: readonly string[],
): Promise<boolean[]> {
  const hashes = emails.map((email) => hashAddressUnderAll(vault, email));
  const suppressed = await listSuppressed(pool, hashes.flat());
  return hashes.map((each) => each.some((hash) => suppressed.has(hash)));
}
