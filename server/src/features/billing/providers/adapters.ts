import type { BillingProvider } from '../facts.ts';
import type { BillingAdapter } from './adapter.ts';
import { lemonSqueezyAdapter } from './lemon-squeezy/adapter.ts';
import { paddleAdapter } from './paddle/adapter.ts';
import { standardWebhooksAdapter } from './standard-webhooks/adapter.ts';
import { stripeAdapter } from './stripe/adapter.ts';

/** Every payment provider that is understood, each in a folder of its own. */
const ADAPTERS: readonly BillingAdapter[] = [
  paddleAdapter,
  stripeAdapter,
  lemonSqueezyAdapter,
  standardWebhooksAdapter,
];

/** The adapter of each provider, under the name that the catalogue's prices use. */
export const billingAdapters: ReadonlyMap<BillingProvider, BillingAdapter> = new Map(
  ADAPTERS.map((adapter) => [adapter.provider, adapter]),
);
