/** The commands of `latchkey webhook` on one payment: show it, and repair it. */
import { PAYMENT_SOURCES } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { listEvents } from '#server/features/billing/queries/event-list.ts';
import { repairPayment, type Repair } from '#server/features/billing/repair-payment.ts';
import type { NamedPayment } from '#server/features/billing/repair-target.ts';
import {
  showPaymentEvent,
  type PaymentEventKey,
} from '#server/features/billing/show-payment-event.ts';

import { resolveLicenseId } from '#server/features/licenses/find-license.ts';

import { currentActor } from './actor.ts';
import type { Result } from './command.ts';
import { failed } from './command-error.ts';
import { licenseArgument, readLicenseName } from './license/argument.ts';
import { addressArgument, emailAddress, requiredReasonOption, wholeNumber } from './options.ts';
import { anyText, argument, choice, flag, option } from './parameters.ts';
import { formatFields, joinSections } from './table.ts';
import { formatEvent, formatLicenses } from './webhook-view.ts';
import { contextCommand } from './with-context.ts';

const EVENT = 'evt_01hv8x29kz0t586xy6zn1a62ny';

const eventArgument = argument('<event>', 'id of the event', anyText);
const productArgument = argument('<product>', 'id of a product of the catalogue', anyText);
const providerOption = choice(
  '--provider <name>',
  'payment provider of the event (default: the only one with this id)',
  PAYMENT_SOURCES,
);
const names = [
  option(
    '--transaction <id>',
    'transaction of a payment that cannot be read, as refunds name it',
    anyText,
  ),
  option('--subscription <id>', 'subscription of a payment that cannot be read', anyText),
] as const;
const common = [providerOption, requiredReasonOption] as const;

export const showCommand = contextCommand({
  name: 'show',
  description:
    'Show what happened in a webhook event of a payment provider: kind, customer, products, amount, the word of the provider, and the licenses of the purchase.',
  examples: {
    [`webhook show ${EVENT}`]: 'What it reports, what it did, and what you can do',
    [`webhook show ${EVENT} --json`]: 'The same as JSON, as the operator interface answers',
  },
  parameters: [eventArgument, providerOption],
  async run(context, { event, provider }) {
    const shown = await showPaymentEvent(context, await findKey(context, event, provider));
    return { json: shown, text: formatEvent(shown) };
  },
});

export const setProductCommand = contextCommand({
  name: 'set-product',
  description:
    'Repair a payment: its price is this product, in this purchase or in all that the catalogue has no product for.',
  examples: {
    [`webhook set-product ${EVENT} personal --reason "old price"`]: 'For this purchase only',
    [`webhook set-product ${EVENT} personal --for-all --reason "old price"`]:
      'For every purchase with this price',
  },
  parameters: [
    eventArgument,
    productArgument,
    option('--price <id>', 'price that is meant (default: the only price of the payment)', anyText),
    flag('--for-all', 'in every purchase of the provider'),
    ...common,
  ],
  run: (context, { event, product, price, forAll, ...rest }) =>
    repair(context, event, { kind: 'price', productId: product, priceId: price, forAll }, rest),
});

const MAX_QUANTITY = 100_000;

export const issueCommand = contextCommand({
  name: 'issue',
  description:
    'Repair a payment: it sold this product, whatever its lines are. The license follows refunds and disputes of the payment.',
  examples: {
    [`webhook issue ${EVENT} personal --reason "payment link without metadata"`]:
      'Create the license, and send its key',
    [`webhook issue ${EVENT} personal --transaction pi_3Q --address ada@example.com --reason "unreadable"`]:
      'For an event that cannot be read',
  },
  parameters: [
    eventArgument,
    productArgument,
    option(
      '--quantity <count>',
      'how many were sold; multiplies the machines (default: 1)',
      wholeNumber(1, MAX_QUANTITY),
    ),
    option('--address <address>', 'where the key goes (default: as the event says)', emailAddress),
    ...names,
    ...common,
  ],
  run: (
    context,
    { event, product, quantity, address: email, transaction, subscription, ...rest },
  ) =>
    repair(
      context,
      event,
      {
        kind: 'issue',
        productId: product,
        quantity: quantity ?? 1,
        ...(email === null ? {} : { email }),
        ...toNames(transaction, subscription),
      },
      rest,
    ),
});

export const linkCommand = contextCommand({
  name: 'link',
  description:
    'Repair a payment: its subscription is this license, which was imported or issued without a purchase.',
  examples: {
    [`webhook link ${EVENT} LK-… --reason "from the old shop"`]:
      'Renew the imported license instead of a second one',
  },
  parameters: [eventArgument, licenseArgument, ...common],
  async run(context, { event, license, ...rest }) {
    const licenseId = await resolveLicenseId(context, await readLicenseName(license));
    if (licenseId === null) throw failed('No such license.');
    return repair(context, event, { kind: 'subscription', licenseId }, rest);
  },
});

export const setAddressCommand = contextCommand({
  name: 'set-address',
  description:
    'Repair a payment: the keys of its purchase go to this address, now and later, whatever the provider reports.',
  examples: {
    [`webhook set-address ${EVENT} ada@example.com --reason "typo in the checkout"`]:
      'Send the keys to another address',
  },
  parameters: [eventArgument, addressArgument, ...names, ...common],
  run: (context, { event, address: email, transaction, subscription, ...rest }) =>
    repair(context, event, { kind: 'address', email, ...toNames(transaction, subscription) }, rest),
});

function toNames(transactionId: string | null, subscriptionId: string | null): NamedPayment {
  return {
    ...(transactionId === null ? {} : { transactionId }),
    ...(subscriptionId === null ? {} : { subscriptionId }),
  };
}

async function repair(
  context: Context,
  eventId: string,
  fact: Repair,
  { provider, reason }: { readonly provider: string | null; readonly reason: string },
): Promise<Result> {
  const key = await findKey(context, eventId, provider);
  await repairPayment(context, key, fact, { actor: currentActor(), reason });
  const event = await showPaymentEvent(context, key);
  const fields = formatFields([
    ['event', event.event_id],
    ['state', event.state],
    ['message', event.message],
  ]);
  return { json: event, text: joinSections(fields, formatLicenses(event)) };
}

async function findKey(
  { pool }: Context,
  eventId: string,
  provider: string | null,
): Promise<PaymentEventKey> {
  const filter = { eventId, provider, status: null, since: null };
  const [event, other] = await listEvents(pool, filter, null, 2);
  if (event === undefined) throw failed('No such event.');
  if (other !== undefined) throw failed('Several providers have this event: name the --provider.');
  return { provider: event.provider, event_id: event.eventId };
}
