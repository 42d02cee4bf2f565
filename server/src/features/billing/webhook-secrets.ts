import type { Secrets } from '#server/config/secrets.ts';

import type { BillingProvider } from './facts.ts';

/** Every secret that signs a provider's webhooks now; none: the provider is not configured. */
export type WebhookSecrets = Readonly<Record<BillingProvider, readonly string[]>>;

/** The secrets as settings name them, by the providers' names. */
export function readWebhookSecrets({ webhooks }: Pick<Secrets, 'webhooks'>): WebhookSecrets {
  const { billing, stripe, lemonSqueezy, standard } = webhooks;
  return { paddle: billing, stripe, lemonsqueezy: lemonSqueezy, standard };
}
