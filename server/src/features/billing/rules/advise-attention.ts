import { ATTENTION_PREFIX, UNMATCHED_PREFIX } from './event-state.ts';

/** A cause of a payment that needs attention, by a part of its message. */
interface Cause {
  readonly says: string;
  readonly advice: string;
}

const PAGE = 'docs/operations/payments.md';

/** The names of providers' objects in the advice. */
const PLACES: Readonly<Record<string, string>> = {
  paddle: 'the transaction in Paddle (Transactions)',
  stripe: 'the payment in the dashboard of Stripe (Payments)',
  lemonsqueezy: 'the order in Lemon Squeezy (Orders)',
  polar: 'the order in Polar (Sales)',
  dodo: 'the payment in Dodo Payments (Transactions)',
  creem: 'the transaction in Creem (Transactions)',
};

const CAUSES: readonly Cause[] = [
  {
    says: 'was reported before as another payment',
    advice: 'Let the shop send the payment again under another id, and dismiss this event.',
  },
  {
    says: 'the amount is negative',
    advice: 'Compare {place}, and issue what was sold, if anything.',
  },
  {
    says: 'it is paid in',
    advice: 'Compare {place}, and extend the license if it was paid for it.',
  },
  {
    says: 'of another customer',
    advice: 'Compare {place}, and extend the license if it was paid for it.',
  },
  {
    says: 'it refunds in',
    advice: 'Compare {place}, and revoke the license if all of it was paid back.',
  },
  {
    says: 'before that was here',
    advice:
      'Compare {place}. Revoke the license if all of it was paid back, suspend it during a dispute, or dismiss the event.',
  },
  {
    says: 'keys, and all of them work',
    advice: 'Compare {place}, and revoke as many keys as were paid back, or dismiss the event.',
  },
  {
    says: 'unknown',
    advice: 'Update Latchkey, in case the provider changed its format, and replay the event.',
  },
  {
    says: 'names another address',
    advice:
      'Set the address that the keys of this purchase go to, and give each customer another id.',
  },
  {
    says: 'period ends before it starts',
    advice: 'Compare {place}, and extend the license if it was paid.',
  },
  {
    says: 'after the subscription was canceled',
    advice: 'Refund {place}, or issue a license for it.',
  },
  { says: 'not larger', advice: 'Issue what was sold as a new license, or refund {place}.' },
  { says: 'a smaller product', advice: 'Issue what was sold as a new license, or refund {place}.' },
  { says: 'quantity is not a plausible', advice: 'Compare {place}, and issue what was sold.' },
  {
    says: 'its subscription is not known yet',
    advice:
      'Send the events of the subscription again, link it to a license, or issue what was sold.',
  },
  {
    says: 'no event of the subscription contains yet',
    advice: 'Send the events of the subscription again, or issue what was sold.',
  },
  { says: 'belongs to no checkout', advice: 'Compare {place}, and issue what was sold.' },
  {
    says: 'Stripe does not report',
    advice: 'Compare the items of {place}, and issue what was sold.',
  },
];

const UNKNOWN = 'Compare {place}, and issue what was sold.';

/** Returns what an operator can do about a payment that needs attention, by its cause and provider; null for another message. */
export function adviseAttention(message: string | null, provider: string): string | null {
  if (message?.startsWith(ATTENTION_PREFIX) !== true) return null;
  const { advice } = CAUSES.find(({ says }) => message.includes(says)) ?? { advice: UNKNOWN };
  return withPage(advice, provider);
}

/** Returns the same for a payment for which the catalogue has no product. */
export function adviseUnmatched(message: string | null, provider: string): string | null {
  if (message?.startsWith(UNMATCHED_PREFIX) !== true) return null;
  return withPage(
    'Or assign the price to a product with a repair, for this purchase or for all.',
    provider,
  );
}

function withPage(advice: string, provider: string): string {
  const place = PLACES[provider] ?? 'the payment at the provider';
  return `${advice.replace('{place}', place)} See ${PAGE}#repair-a-payment.`;
}
