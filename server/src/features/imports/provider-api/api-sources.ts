import type { ApiReader } from './api-reader.ts';
import { readFastSpring } from './fastspring.ts';
import { readLemonSqueezy } from './lemon-squeezy.ts';
import { readPaddle } from './paddle.ts';
import { readPolar } from './polar.ts';
import type { ProviderRecords } from './records.ts';
import { readStripe, STRIPE_VERSION } from './stripe.ts';

/** The sources that are read by an API. */
export const API_SOURCES = ['stripe', 'paddle', 'lemonsqueezy', 'polar', 'fastspring'] as const;

export type ApiSource = (typeof API_SOURCES)[number];

/** What an import knows of the API of a source. */
interface ApiDescription {
  readonly name: string;
  readonly url: string;
  readonly read: (api: ApiReader) => ProviderRecords;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
  /** Beginnings of keys of test modes, whose data are no sales. */
  readonly testKeys: readonly string[];
  /** The host of a test mode. */
  readonly testHost?: string;
  /** What the key must be allowed to do, for the message about a refusal. */
  readonly permissions: string;
}

function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` };
}

export const API_DESCRIPTIONS: Readonly<Record<ApiSource, ApiDescription>> = {
  stripe: {
    name: 'Stripe',
    url: 'https://api.stripe.com',
    read: readStripe,
    headers: (key) => ({ ...bearer(key), 'stripe-version': STRIPE_VERSION }),
    testKeys: ['sk_test_', 'rk_test_'],
    permissions: 'to read subscriptions, customers and invoices',
  },
  paddle: {
    name: 'Paddle',
    url: 'https://api.paddle.com',
    read: readPaddle,
    headers: bearer,
    testKeys: ['pdl_sdbx_'],
    testHost: 'sandbox-api.paddle.com',
    permissions: 'subscription.read and customer.read',
  },
  lemonsqueezy: {
    name: 'Lemon Squeezy',
    url: 'https://api.lemonsqueezy.com',
    read: readLemonSqueezy,
    headers: (key) => ({ ...bearer(key), accept: 'application/vnd.api+json' }),
    testKeys: [],
    permissions: 'those of every API key',
  },
  polar: {
    name: 'Polar',
    url: 'https://api.polar.sh',
    read: readPolar,
    headers: bearer,
    testKeys: [],
    testHost: 'sandbox-api.polar.sh',
    permissions: 'subscriptions:read, license_keys:read and products:read',
  },
  fastspring: {
    name: 'FastSpring',
    url: 'https://api.fastspring.com',
    read: readFastSpring,
    headers: (key) => ({ authorization: `Basic ${Buffer.from(key).toString('base64')}` }),
    testKeys: [],
    permissions:
      'those of every API credential, given as user name and password with a colon between them',
  },
};
