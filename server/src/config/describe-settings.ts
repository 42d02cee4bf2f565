import { PAYMENT_PROVIDERS } from '@latchkey/contract';

import type { Config } from './config.ts';
import { withoutPassword } from './database-url.ts';
import type { Environment } from './env.ts';
import { masterSecretPath } from './master-secret.ts';
import { PROVIDER_SETTINGS } from './payment-providers.ts';

/** A setting in effect, without secrets. */
export interface DescribedSetting {
  readonly name: string;
  /** `(secret)` for a secret; null: not set. */
  readonly value: string | null;
  readonly origin: 'set' | 'default';
}

/** Describes every setting by the name of its variable. */
export function describeConfiguration(
  config: Config,
  environment: Environment,
): DescribedSetting[] {
  const plain = describePlain(config, environment).map(
    ([name, value, variable]): DescribedSetting => ({
      name,
      value,
      origin: variable === undefined ? 'default' : 'set',
    }),
  );
  return [...plain, ...describeSecrets(config, environment)];
}

/** Name, value in effect, and the value of the variable. */
type PlainSetting = readonly [string, string | null, unknown];

function describePlain(config: Config, env: Environment): readonly PlainSetting[] {
  const { http, metrics, billing, mail, events } = config;
  return [
    ['LATCHKEY_HOST', http.host, env.host],
    ['LATCHKEY_PORT', String(http.port), env.port ?? env.platformPort],
    ['LATCHKEY_PUBLIC_URL', http.publicUrl, env.publicUrl],
    ['LATCHKEY_TRUSTED_PROXIES', listOf(http.trustedProxies), env.trustedProxies],
    ['LATCHKEY_LOG_LEVEL', config.log.level, env.logLevel],
    ['LATCHKEY_DATA_DIR', config.dataDirectory, env.dataDirectory],
    ['LATCHKEY_CATALOG', config.catalogPath, env.catalogPath],
    ['LATCHKEY_POSTGRES_USER', config.database.account, env.postgresAccount],
    ['LATCHKEY_DATABASE_POOL_SIZE', String(config.database.poolSize), env.databasePoolSize],
    [
      'LATCHKEY_REPLICA_MAX_LAG_S',
      String(config.database.replicaMaxLagSeconds),
      env.replicaMaxLagSeconds,
    ],
    ['LATCHKEY_METRICS_PORT', textOf(metrics.port), env.metricsPort],
    ['LATCHKEY_METRICS_HOST', metrics.host, env.metricsHost],
    [
      'LATCHKEY_WEBHOOK_ALLOWED_NETWORKS',
      listOf(config.outgoingWebhooks.allowedNetworks),
      env.webhookAllowedNetworks,
    ],
    ['LATCHKEY_STORAGE_QUOTA_MIB', String(config.storage.quotaMib), env.storageQuotaMib],
    ['LATCHKEY_EVENTS_RATE', `${events.rate.perSecond}/${events.rate.burst}`, env.eventsRate],
    ['LATCHKEY_EVENT_NAMES', events.names.join(',') || 'all', env.eventNames],
    ['LATCHKEY_EVENTS_KEEP_DAYS', String(events.keepDays), env.eventsKeepDays],
    ['LATCHKEY_BILLING_TOLERANCE_S', String(billing.toleranceSeconds), env.billingToleranceSeconds],
    ['LATCHKEY_CHECK_REVEAL_HOURS', String(billing.revealHours), env.checkRevealHours],
    ['LATCHKEY_BILLING_RAW_KEEP_DAYS', String(billing.rawKeepDays), env.billingRawKeepDays],
    ['LATCHKEY_PADDLE_API_URL', billing.paddleApiUrl, env.paddleApiUrl],
    ['LATCHKEY_GUMROAD_API_URL', billing.gumroadApiUrl, env.gumroadApiUrl],
    ['LATCHKEY_STRIPE_API_URL', billing.stripeApiUrl, env.stripeApiUrl],
    ['LATCHKEY_MAIL_FROM', mail.from, env.mailFrom],
    ['LATCHKEY_DOUBLE_OPT_IN', config.subscribers.doubleOptIn ? 'on' : 'off', env.doubleOptIn],
    [
      'LATCHKEY_SUBSCRIBE_RATE',
      `${config.subscribers.rate.perMinute}/${config.subscribers.rate.burst}`,
      env.subscribeRate,
    ],
    ['LATCHKEY_DKIM_DOMAIN', textOf(mail.dkim?.domain), env.dkimDomain],
    ['LATCHKEY_DKIM_SELECTOR', textOf(mail.dkim?.selector), env.dkimSelector],
    ...describeOperators(config, env),
  ];
}

function describeOperators({ operators }: Config, env: Environment): readonly PlainSetting[] {
  const { oidc, trustedHeader } = operators;
  const roles = oidc?.roles.map(({ role, value }) => `${role}=${value}`).join(',');
  return [
    ['LATCHKEY_PASSWORDS', operators.passwords ? 'on' : 'off', env.passwords],
    ['LATCHKEY_OIDC_ISSUER', textOf(oidc?.issuer), env.oidcIssuer],
    ['LATCHKEY_OIDC_CLIENT_ID', textOf(oidc?.clientId), env.oidcClientId],
    ['LATCHKEY_OIDC_NAME', textOf(oidc?.name), env.oidcName],
    ['LATCHKEY_OIDC_CLAIM', oidc?.claim ?? 'groups', env.oidcClaim],
    ['LATCHKEY_OIDC_ROLES', textOf(roles), env.oidcRoles],
    ['LATCHKEY_TRUSTED_HEADER', textOf(trustedHeader?.name), env.trustedHeader],
    [
      'LATCHKEY_TRUSTED_HEADER_PROXIES',
      trustedHeader === null ? null : listOf(trustedHeader.proxies),
      env.trustedHeaderProxies,
    ],
  ];
}

function describeSecrets(config: Config, environment: Environment): DescribedSetting[] {
  return [
    secret(
      'LATCHKEY_SECRET',
      environment.masterSecret,
      `kept in ${masterSecretPath(config.dataDirectory)}`,
    ),
    secret('LATCHKEY_PREVIOUS_SECRETS', environment.previousSecrets),
    describeDatabaseUrl('DATABASE_URL', environment.databaseUrl, 'embedded, in the data directory'),
    describeDatabaseUrl('LATCHKEY_REPLICA_URL', environment.replicaUrl, null),
    secret('REDIS_URL', environment.redisUrl),
    secret('LATCHKEY_METRICS_TOKEN', environment.metricsToken),
    ...PAYMENT_PROVIDERS.map((provider) =>
      secret(PROVIDER_SETTINGS[provider].secretsVariable, environment.webhookSecrets[provider]),
    ),
    secret('LATCHKEY_PADDLE_API_KEY', environment.paddleApiKey),
    secret('LATCHKEY_GUMROAD_ACCESS_TOKEN', environment.gumroadAccessToken),
    secret('LATCHKEY_STRIPE_API_KEY', environment.stripeApiKey),
    secret('LATCHKEY_SMTP_URL', environment.smtpUrl),
    secret('LATCHKEY_DKIM_PRIVATE_KEY', environment.dkimPrivateKey),
    secret('LATCHKEY_OUTREACH_API_KEY', environment.outreachApiKey),
    secret('LATCHKEY_OIDC_CLIENT_SECRET', environment.oidcClientSecret),
  ];
}

function secret(name: string, value: unknown, otherwise: string | null = null): DescribedSetting {
  return value === undefined
    ? { name, value: otherwise, origin: 'default' }
    : { name, value: '(secret)', origin: 'set' };
}

/** Shows a database without its password and parameters. */
function describeDatabaseUrl(name: string, url: string | undefined, otherwise: string | null) {
  const value = url === undefined ? otherwise : withoutPassword(url);
  return { name, value, origin: url === undefined ? 'default' : 'set' } as const;
}

function listOf(entries: readonly string[]): string {
  return entries.length === 0 ? 'none' : entries.join(',');
}

function textOf(value: string | number | null | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
