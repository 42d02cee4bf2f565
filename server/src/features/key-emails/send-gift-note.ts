/** Notifies the payer of a gift. */
import type { BillingDependencies } from '../billing/dependencies.ts';
import type { TransactionKey } from '../billing/queries/purchases.ts';
import { findBuyerLocale, listBoughtLicenses } from './buyer-queries.ts';
import { claimGiftNote, findGift, releaseGiftNote } from './gift-queries.ts';
import { recordOwnerEmail } from './owner-email-queries.ts';
import { createMessageToken, isSameAddress } from './send-key-email.ts';
import { chooseLanguage } from './texts.ts';
import { writeGiftNote } from './write-gift-note.ts';
import { toGreetingName } from './write-key-email.ts';

/**
 * Notifies the payer of a gift that its keys were sent, at most once: a note that the relay did not confirm, or whose process was
 * killed, is not sent again. It contains no key.
 * @throws Error if no mail is configured or a retry may succeed
 */
export async function sendGiftNote(
  deps: BillingDependencies,
  key: TransactionKey,
  signal?: AbortSignal,
): Promise<void> {
  const { clock, mail, pool } = deps;
  const gift = await findGift(pool, key);
  const licenses = await listBoughtLicenses(pool, key);
  const owner = licenses.find(({ customerEmail }) => customerEmail !== null)?.customerEmail;
  // Without an owner, the recipient was erased.
  if (gift === null || owner == null || isSameAddress(owner, gift.payer)) return;
  if (mail === null) throw new Error('no mail is configured');
  if (!(await claimGiftNote(pool, key, clock.now()))) return;
  const language = chooseLanguage(await findBuyerLocale(pool, key));
  const message = {
    ...writeGiftNote(language, {
      payerName: gift.payerName,
      recipient: isSameAddress(owner, gift.recipient) ? owner : null,
      productNames: licenses.map(({ productId }) => nameProduct(deps, productId)),
      transactionId: key.transactionId,
    }),
    to: { address: gift.payer, name: toGreetingName(gift.payerName) },
    messageToken: createMessageToken(deps, 'gift', [key.provider, key.transactionId]),
  };
  const result = await mail.send(message, signal);
  const { messageToken } = message;
  const log = { messageToken, template: 'gift_sent', language, email: gift.payer } as const;
  await recordOwnerEmail(pool, log, result, true, clock.now());
  deps.metrics.countMail('gift_sent', result.outcome);
  if (result.outcome !== 'temporary') return;
  await releaseGiftNote(pool, key);
  throw new Error(`the mail relay did not accept it: ${result.reason}`);
}

function nameProduct({ catalog }: BillingDependencies, productId: string): string {
  return catalog().products.get(productId)?.name ?? productId;
}
