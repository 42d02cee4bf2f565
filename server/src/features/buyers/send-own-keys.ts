import { rateLimited } from '#server/errors.ts';

import { resendLicenseKey } from '../key-emails/resend-license-key.ts';
import { isUsable, licenseStatus } from '../licenses/rules/status.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { BUYER } from './free-own-machine.ts';
import { listOwnLicenses, MAX_LICENSES } from './own-licenses.ts';
import { listOftenMailed } from './queries/key-requests.ts';
import type { BuyerSession } from './session.ts';

/**
 * E-mails the keys of the licenses of a session to their owner, never to an address that the request names.
 * @returns whether an e-mail is queued; false: no license works or has an address, or no mail is configured
 * @throws rateLimited (429)
 */
export async function sendOwnKeys(
  deps: BuyerDependencies,
  session: BuyerSession,
): Promise<boolean> {
  const client = session.door === 'email' ? session.email.toLowerCase() : session.licenseId;
  const now = deps.clock.now();
  const licenses = (await listOwnLicenses(deps, session)).slice(0, MAX_LICENSES);
  const sendable = licenses.filter(
    (license) => license.customerEmail !== null && isUsable(licenseStatus(license, now)),
  );
  if (sendable.length === 0 || deps.config.mail.from === null) return false;
  await deps.buyerLimits.take('keys', client);
  for (const licenseId of await requireMailable(deps, sendable, now)) {
    await deps.databaseLimiter.run(() =>
      resendLicenseKey(deps, { licenseId, actor: BUYER, reason: null }),
    );
  }
  return true;
}

const DAY_MS = 86_400_000;

/** E-mails with the key of one license in a day: a person with a leaked key must not fill the mailbox of the owner. */
const MAX_MAILS_A_DAY = 10;

/** Returns the ids of the licenses whose key may be mailed now. @throws rateLimited (429) when there is none */
async function requireMailable(
  { databaseLimiter, pool }: BuyerDependencies,
  licenses: readonly { readonly id: string }[],
  now: Date,
): Promise<string[]> {
  const ids = licenses.map(({ id }) => id);
  const dayAgo = new Date(now.getTime() - DAY_MS);
  const often = await databaseLimiter.run(() =>
    listOftenMailed(pool, ids, BUYER, dayAgo, MAX_MAILS_A_DAY),
  );
  const refused = new Set(often.map(({ licenseId }) => licenseId));
  const allowed = ids.filter((id) => !refused.has(id));
  if (allowed.length > 0) return allowed;
  const first = Math.min(...often.map(({ since }) => since.getTime()));
  throw rateLimited(Math.max(1, Math.ceil((first - dayAgo.getTime()) / 1000)));
}
