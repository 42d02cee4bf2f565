import type { Environment } from './env.ts';

/** What must never be shown or logged. */
export interface Secrets {
  /** From `LATCHKEY_SECRET`, or kept in the data directory: the root of all keys at rest. */
  readonly master: string;
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

/** Makes the secrets of what the environment gave and the master secret that was found or made for it. */
export function toSecrets(environment: Environment, master: string): Secrets {
  return {
    master,
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
