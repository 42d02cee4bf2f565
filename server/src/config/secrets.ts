import { createVault } from '#server/lib/vault.ts';

import type { Environment } from './env.ts';

/** Settings that are never shown or logged. */
export interface Secrets {
  /** From `LATCHKEY_SECRET`, or kept in the data directory: the root of all keys at rest. */
  readonly master: string;
  /** Earlier ones that rows may still be stored under: they are read, and nothing is written with them. */
  readonly previousMasters: readonly string[];
  /** Null: the embedded database. */
  readonly databaseUrl: string | null;
  readonly redisUrl: string | null;
  readonly metricsToken: string | null;
  readonly outreachApiKey: string | null;
  /** Per payment provider every secret that signs its webhooks now; empty: not configured. */
  readonly webhooks: {
    readonly billing: readonly string[];
    readonly stripe: readonly string[];
    readonly lemonSqueezy: readonly string[];
    readonly standard: readonly string[];
  };
  readonly paddleApiKey: string | null;
  readonly smtpUrl: string | null;
  readonly dkimPrivateKey: string | null;
}

/**
 * Combines the secrets of the environment with the master secret that was found or created for it.
 * @param kept earlier master secrets that are kept in the data directory
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
    databaseUrl: environment.databaseUrl ?? null,
    redisUrl: environment.redisUrl ?? null,
    metricsToken: environment.metricsToken ?? null,
    outreachApiKey: environment.outreachApiKey ?? null,
    webhooks: {
      billing: environment.billingSecrets ?? [],
      stripe: environment.stripeSecrets ?? [],
      lemonSqueezy: environment.lemonSqueezySecrets ?? [],
      standard: environment.standardWebhooksSecrets ?? [],
    },
    paddleApiKey: environment.paddleApiKey ?? null,
    smtpUrl: environment.smtpUrl ?? null,
    dkimPrivateKey: environment.dkimPrivateKey ?? null,
  };
}

/** The ids of the master secrets that are read, the current one first. */
export function listSecretIds({
  master,
  previousMasters,
}: Pick<Secrets, 'master' | 'previousMasters'>): string[] {
  const { secretId, previous } = createVault(master, previousMasters);
  return [secretId, ...previous.map((hashes) => hashes.secretId)];
}
