import type { Secrets } from '#server/config/secrets.ts';

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

/** The adapter of a provider, by the name that the catalogue's prices use; undefined where there is none. */
export function findAdapter(provider: string): BillingAdapter | undefined {
  return ADAPTERS.find((adapter) => adapter.provider === provider);
}

/** Every secret that signs a provider's webhooks now; none: the provider is not configured. */
export type WebhookSecrets = Readonly<Record<BillingProvider, readonly string[]>>;

/** The secrets as settings name them, by the providers' names. */
export function readWebhookSecrets({ webhooks }: Pick<Secrets, 'webhooks'>): WebhookSecrets {
  const { billing, stripe, lemonSqueezy, standard } = webhooks;
  return { paddle: billing, stripe, lemonsqueezy: lemonSqueezy, standard };
}
