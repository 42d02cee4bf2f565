import { createHash, createHmac } from 'node:crypto';

import type { AnyHappening, Buyer, Paid, Plan, ProviderName } from '../happenings.ts';

/** An event in the form of its provider, not signed yet. */
export interface WrittenEvent {
  readonly provider: ProviderName;
  readonly eventId: string;
  readonly day: number;
  readonly body: string;
  /** The payment that the event reports; null: it reports something else. */
  readonly payment: Paid | null;
}

/** Writes what happened as the events of a provider. */
export type Writer = (happening: AnyHappening) => readonly Omit<WrittenEvent, 'provider'>[];

/** Returns the number of the customer that a buyer is. */
export function numberCustomer({ number, customer = number }: Buyer): number {
  return customer;
}

/** Returns the ids of a buyer's subscription and payments. */
export const nameOf = {
  subscription: ({ number }: Buyer): string => `sub_${number}`,
  customer: (buyer: Buyer): string => `ctm_${numberCustomer(buyer)}`,
  payment: ({ buyer, number }: Paid): string => `txn_${buyer.number}_${number}`,
  price: ({ name }: Plan): string => `pri_${name}`,
};

/** Stands for the id of the license of an address, which is known once the service has created it. */
const LICENSE_OF = /\{\{license of ([^}]+)\}\}/;

/** Returns the address whose license a body names; null: none. */
export function findNamedLicense(body: string): string | null {
  return LICENSE_OF.exec(body)?.[1] ?? null;
}

/** Writes the id of the license into a body that names it. */
export function nameLicense({ body, ...event }: WrittenEvent, licenseId: string): WrittenEvent {
  const named = body.replace(LICENSE_OF, licenseId);
  const eventId = event.provider === 'lemonsqueezy' ? hashBody(named) : event.eventId;
  return { ...event, eventId, body: named };
}

/** Returns the id of an event of Lemon Squeezy, which has none. */
export function hashBody(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Writes the name of a license, instead of its id that is not known yet. @param email of its buyer */
export function toLicenseOf(email: string): string {
  return `{{license of ${email}}}`;
}

const STANDARD_SECRET = `whsec_${Buffer.from('secret of a simulated shop, 32 bytes').toString('base64')}`;

/** Returns the secrets of the shop, in the form of each provider. */
export const SECRETS: Readonly<Record<ProviderName, string>> = {
  paddle: 'pdl_ntfset_of_a_simulated_shop',
  stripe: 'whsec_of_a_simulated_shop',
  lemonsqueezy: 'secret of a simulated shop',
  polar: 'polar_whs_of_a_simulated_shop',
  dodo: STANDARD_SECRET,
  creem: 'whsec_of_a_simulated_shop_at_creem',
  fastspring: 'secret of a shop at fastspring',
  gumroad: 'secret-in-the-address-of-a-simulated-shop',
  standard: STANDARD_SECRET,
};

function hmac(key: string | Buffer, text: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(text).digest(encoding);
}

/** The path and headers of a delivery. */
interface Signed {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Signs a delivery as its provider does; that of Gumroad has a secret in its address instead. */
export function sign({ provider, body, eventId }: WrittenEvent, at: Date): Signed {
  const secret = SECRETS[provider];
  const seconds = Math.floor(at.getTime() / 1_000);
  switch (provider) {
    case 'paddle': {
      const signature = hmac(secret, `${seconds}:${body}`, 'hex');
      return {
        path: '/api/v1/webhooks/billing',
        headers: { 'paddle-signature': `ts=${seconds};h1=${signature}` },
      };
    }
    case 'stripe': {
      const signature = hmac(secret, `${seconds}.${body}`, 'hex');
      return {
        path: '/api/v1/webhooks/stripe',
        headers: { 'stripe-signature': `t=${seconds},v1=${signature}` },
      };
    }
    case 'lemonsqueezy':
      return {
        path: '/api/v1/webhooks/lemonsqueezy',
        headers: { 'x-signature': hmac(secret, body, 'hex') },
      };
    case 'polar':
      return signStandard(`/api/v1/webhooks/polar`, Buffer.from(secret, 'utf8'));
    case 'creem':
      return {
        path: '/api/v1/webhooks/creem',
        headers: { 'creem-signature': hmac(secret, body, 'hex') },
      };
    case 'fastspring':
      return {
        path: '/api/v1/webhooks/fastspring',
        headers: { 'x-fs-signature': hmac(secret, body, 'base64') },
      };
    case 'gumroad':
      return {
        path: `/api/v1/webhooks/gumroad/${encodeURIComponent(secret)}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      };
    case 'dodo':
    case 'standard':
      return signStandard(
        `/api/v1/webhooks/${provider}`,
        Buffer.from(secret.slice('whsec_'.length), 'base64'),
      );
  }

  function signStandard(path: string, key: Buffer): Signed {
    const signature = hmac(key, `${eventId}.${seconds}.${body}`, 'base64');
    return {
      path,
      headers: {
        'webhook-id': eventId,
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${signature}`,
      },
    };
  }
}
