import { isTestSource, providerOf } from '@latchkey/contract';

import type { BillingProvider } from '../facts.ts';
import { toTestAdapter, type BillingAdapter } from './adapter.ts';
import { fastSpringAdapter } from './fastspring/adapter.ts';
import { creemAdapter } from './creem/adapter.ts';
import { dodoAdapter } from './dodo/adapter.ts';
import { gumroadAdapter } from './gumroad/adapter.ts';
import { lemonSqueezyAdapter } from './lemon-squeezy/adapter.ts';
import { paddleAdapter } from './paddle/adapter.ts';
import { polarAdapter } from './polar/adapter.ts';
import { standardWebhooksAdapter } from './standard-webhooks/adapter.ts';
import { stripeAdapter } from './stripe/adapter.ts';

const ADAPTERS: readonly BillingAdapter[] = [
  paddleAdapter,
  stripeAdapter,
  lemonSqueezyAdapter,
  fastSpringAdapter,
  polarAdapter,
  dodoAdapter,
  creemAdapter,
  gumroadAdapter,
  standardWebhooksAdapter,
];

/** Finds the adapter of a provider by its name in the catalogue's prices. */
export function findAdapter(provider: string): BillingAdapter | undefined {
  return ADAPTERS.find((adapter) => adapter.provider === provider);
}

/** Finds the adapter that reads stored events of a source. */
export function findSourceAdapter(source: BillingProvider): BillingAdapter | undefined {
  const adapter = findAdapter(providerOf(source));
  return adapter !== undefined && isTestSource(source) ? toTestAdapter(adapter) : adapter;
}
