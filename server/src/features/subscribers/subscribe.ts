import { parseEmail, type SubscriberResponse } from '@latchkey/contract';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { MailTransport } from '#server/mail/mail-transport.ts';
import { choosePageLanguage } from '#server/pages/page-language.ts';

import { hashAddress, subscriberIdOf } from '../suppressions/address-hash.ts';
import { lockAddress } from '../suppressions/queries/suppressions.ts';
import { rewriteAddresses, type AddressDependencies } from '../suppressions/stored-addresses.ts';
import { upsertSubscriber } from './queries/subscribers.ts';

export interface SubscribeDependencies extends AddressDependencies {
  readonly clock: Clock;
  readonly config: { readonly subscribers: { readonly doubleOptIn: boolean } };
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly mail: MailTransport | null;
}

/**
 * Stores a subscription request. The response depends only on the request and the clock, and the work is the same for
 * every address, so that neither reveals whether the address is known, confirmed or suppressed; a job decides the rest.
 * @param acceptLanguage the header field, for the language of the e-mails
 */
export async function subscribe(
  deps: SubscribeDependencies,
  address: string,
  acceptLanguage: string | undefined,
): Promise<SubscriberResponse> {
  const { clock, config, databaseLimiter, mail, pool, vault } = deps;
  const parsed = parseEmail(address);
  if ('fault' in parsed) throw new RangeError('the request schema accepted an invalid address');
  const { email } = parsed;
  const addressHash = hashAddress(vault, email);
  const id = subscriberIdOf(vault, addressHash);
  const language = choosePageLanguage(acceptLanguage);
  const now = clock.now();
  const confirmed = !config.subscribers.doubleOptIn || mail === null;
  await databaseLimiter.run(async () => {
    await rewriteAddresses(deps, [email]);
    await inTransaction(pool, async (db) => {
      await lockAddress(db, addressHash);
      await upsertSubscriber(db, { addressHash, id, email, language, now, confirmed });
      // Also without double opt-in: an unsubscription is lifted by a confirmation only.
      if (mail === null) return;
      await addJobs(db, [
        { name: 'send_confirmation', payload: { addressHash }, key: addressHash },
      ]);
    });
  });
  return { id, subscribed_at: now.toISOString(), email };
}
