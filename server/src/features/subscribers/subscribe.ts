import { parseEmail, type SubscriberResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import { choosePageLanguage } from '#server/pages/page-language.ts';

import { hashAddress, subscriberIdOf } from '../suppressions/address-hash.ts';
import { rewriteAddresses } from '../suppressions/rewrite-addresses.ts';
import { lockAddress, upsertSubscriber } from './queries/subscribers.ts';

/**
 * Notes that somebody asks for news with this address. The answer is made of the request and the clock alone, and the
 * work is the same for every address, known, confirmed or suppressed: what follows is decided by a job.
 * @param acceptLanguage the header field, for the language of the mails
 */
export async function subscribe(
  ctx: Pick<Context, 'clock' | 'config' | 'databaseLimiter' | 'mail' | 'pool' | 'vault'>,
  address: string,
  acceptLanguage: string | undefined,
): Promise<SubscriberResponse> {
  const parsed = parseEmail(address);
  if ('fault' in parsed) throw new RangeError('the schema lets something pass that is no address');
  const { email } = parsed;
  const addressHash = hashAddress(ctx.vault, email);
  const id = subscriberIdOf(ctx.vault, addressHash);
  const language = choosePageLanguage(acceptLanguage);
  const now = ctx.clock.now();
  const confirmed = !usesDoubleOptIn(ctx);
  await ctx.databaseLimiter.run(async () => {
    await rewriteAddresses(ctx, [email]);
    await inTransaction(ctx.pool, async (db) => {
      await lockAddress(db, addressHash);
      await upsertSubscriber(db, { addressHash, id, email, language, now, confirmed });
      // Also where everybody is taken at his word: who unsubscribed comes back by confirming, and only then.
      if (ctx.mail === null) return;
      await addJobs(db, [
        { name: 'send_confirmation', payload: { addressHash }, key: addressHash },
      ]);
    });
  });
  return { id, subscribed_at: now.toISOString(), email };
}

/** Whether subscriptions are confirmed from the mailbox: unless that is switched off, or no mail is sent. */
function usesDoubleOptIn({ config, mail }: Pick<Context, 'config' | 'mail'>): boolean {
  return config.subscribers.doubleOptIn && mail !== null;
}
