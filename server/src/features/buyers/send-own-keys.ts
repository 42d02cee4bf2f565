import { resendLicenseKey } from '../billing/key-emails/resend-license-key.ts';
import { isUsable, licenseStatus } from '../licenses/rules/status.ts';
import type { BuyerDependencies } from './dependencies.ts';
import { BUYER } from './free-own-machine.ts';
import { listOwnLicenses, MAX_LICENSES } from './own-licenses.ts';
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
  for (const { id: licenseId } of sendable) {
    await deps.databaseLimiter.run(() =>
      resendLicenseKey(deps, { licenseId, actor: BUYER, reason: null }),
    );
  }
  return true;
}
