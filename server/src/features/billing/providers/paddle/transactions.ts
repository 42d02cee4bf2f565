import type { Occurrence, PaymentFact } from '../../facts.ts';
import { readAmount } from './amounts.ts';
import { readCustomData } from './customers.ts';
import { readTransactionLines } from './lines.ts';
import { ignored, type Reading } from './reading.ts';
import type { Transaction } from './schemas.ts';
import { readPeriod } from '../times.ts';

/** The end of a pause is charged as `subscription_recurring`, too. */
const ORIGINS: ReadonlyMap<string, PaymentFact['origin']> = new Map([
  ['web', 'purchase'],
  ['api', 'purchase'],
  ['subscription_recurring', 'renewal'],
  ['subscription_update', 'change'],
  ['subscription_charge', 'change'],
]);

/** Money has come in. The period and the subscription may be missing in a first payment, and there is no e-mail in it. */
export function readTransaction(transaction: Transaction, occurrence: Occurrence): Reading {
  const lines = readTransactionLines(transaction);
  if (lines === null) return ignored('The transaction has a billing cycle that is not known.');
  const totals = transaction.details?.totals;
  const fact: PaymentFact = {
    kind: 'payment',
    transactionId: transaction.id,
    subscriptionId: transaction.subscription_id ?? null,
    origin: ORIGINS.get(transaction.origin ?? '') ?? 'other',
    customerId: transaction.customer_id ?? null,
    customer: readCustomData(transaction.custom_data),
    ...occurrence,
    period: readPeriod(transaction.billing_period),
    lines,
    // What was paid once credit had been taken off.
    total: readAmount(totals?.grand_total) ?? readAmount(totals?.total),
  };
  return { fact };
}
