import { forEachProvider, type PaymentProvider } from '@latchkey/contract';

import { createVault } from '#server/lib/vault.ts';

import type { Environment } from './env.ts';

/** The settings that are never shown or logged. */
export interface Secrets {
  /** From `LATCHKEY_SECRET` or the data directory: all keys of stored data derive from it. */
  readonly master: string;
  /** Earlier master secrets that rows may still be stored under; nothing is written with them. */
  readonly previousMasters: readonly string[];
  /** Null: the embedded database. */
  readonly databaseUrl: string | null;
  /** Null: reports are read from the database itself. */
  readonly replicaUrl: string | null;
  readonly redisUrl: string | null;
  readonly metricsToken: string | null;
  readonly outreachApiKey: string | null;
  /** Null: the client of the OpenID Connect provider is public. */
  readonly oidcClientSecret: string | null;
  /** The current signing secrets of each payment provider; empty: not configured. */
  readonly webhooks: Readonly<Record<PaymentProvider, readonly string[]>>;
  readonly paddleApiKey: string | null;
  readonly gumroadAccessToken: string | null;
  readonly stripeApiKey: string | null;
  readonly smtpUrl: string | null;
  readonly dkimPrivateKey: string | null;
}

/**
 * Combines the secrets of the environment with the master secret.
 * @param kept earlier master secrets in the data directory
 */
export function toSecrets(
  environment: Environment,
  master: string,
  kept: readonly string[] = [],
): Secrets {
  const previous = new Set([...(environment.previousSecrets ?? []), ...kept]);
  previous.delete(master);
  return {
    master,
    previousMasters: [...previous],
    ...toUrls(environment),
    metricsToken: environment.metricsToken ?? null,
    outreachApiKey: environment.outreachApiKey ?? null,
    oidcClientSecret: environment.oidcClientSecret ?? null,
    webhooks: forEachProvider((provider) => environment.webhookSecrets[provider] ?? []),
    paddleApiKey: environment.paddleApiKey ?? null,
    gumroadAccessToken: environment.gumroadAccessToken ?? null,
    stripeApiKey: environment.stripeApiKey ?? null,
    smtpUrl: environment.smtpUrl ?? null,
    dkimPrivateKey: environment.dkimPrivateKey ?? null,
  };
}

function toUrls({ databaseUrl, replicaUrl, redisUrl }: Environment) {
  return {
    databaseUrl: databaseUrl ?? null,
    replicaUrl: replicaUrl ?? null,
    redisUrl: redisUrl ?? null,
  };
}

/** Returns the ids of the master secrets, the current one first. */
export function listSecretIds({
  master,
  previousMasters,
}: Pick<Secrets, 'master' | 'previousMasters'>): string[] {
  const { secretId, previous } = createVault(master, previousMasters);
  return [secretId, ...previous.map((hashes) => hashes.secretId)];
}
