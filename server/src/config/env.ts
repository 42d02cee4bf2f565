import { forEachProvider } from '@latchkey/contract';

import { codeOf, messageOf } from '#server/lib/unknown-values.ts';
import { scrub } from '#server/log-scrub.ts';

import * as values from './env-values.ts';
import type { Parse } from './env-values.ts';
import { PROVIDER_SETTINGS } from './payment-providers.ts';
import { redisUrl } from './redis-url.ts';
import { findUnknownVariables } from './unknown-names.ts';

/** The variables of a process, as in `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Reads a file (`…_FILE`) or throws. */
export type ReadText = (path: string) => string;

export interface EnvironmentReading {
  readonly environment: Environment;
  /** One sentence each; the service does not start with any. */
  readonly problems: readonly string[];
  /** One sentence each; the service starts nevertheless. */
  readonly warnings: readonly string[];
}

/** The settings; undefined if the variable is absent or blank. */
export type Environment = ReturnType<typeof readVariables>;

/** Reads all variables of the service, also those of features not in use, and reports all problems. */
export function readEnvironment(variables: Variables, readText: ReadText): EnvironmentReading {
  const reader = createReader(variables, readText);
  const environment = readVariables(reader);
  const unknown = findUnknownVariables(Object.keys(variables), reader.names);
  return {
    environment,
    problems: [...reader.problems, ...unknown.misspelled],
    warnings: unknown.unrecognized,
  };
}

/** Returns the names of all variables, `…_FILE` included. */
export function listVariableNames(): readonly string[] {
  const reader = createReader({}, () => '');
  readVariables(reader);
  return [...reader.names];
}

function readVariables({ plain, secret }: Reader) {
  return {
    host: plain('LATCHKEY_HOST', values.host),
    port: plain('LATCHKEY_PORT', values.port),
    platformPort: plain('PORT', values.port),
    publicUrl: plain('LATCHKEY_PUBLIC_URL', values.webUrl),
    trustedProxies: plain('LATCHKEY_TRUSTED_PROXIES', values.trustedProxies),
    logLevel: plain('LATCHKEY_LOG_LEVEL', values.logLevel),
    dataDirectory: plain('LATCHKEY_DATA_DIR', values.anyText),
    catalogPath: plain('LATCHKEY_CATALOG', values.anyText),
    masterSecret: secret('LATCHKEY_SECRET', values.masterSecret),
    previousSecrets: secret('LATCHKEY_PREVIOUS_SECRETS', values.masterSecretList),

    databaseUrl: secret('DATABASE_URL', values.databaseUrl),
    replicaUrl: secret('LATCHKEY_REPLICA_URL', values.replicaUrl),
    replicaMaxLagSeconds: plain('LATCHKEY_REPLICA_MAX_LAG_S', values.wholeNumber(1, 86_400)),
    postgresAccount: plain('LATCHKEY_POSTGRES_USER', values.anyText),
    databasePoolSize: plain('LATCHKEY_DATABASE_POOL_SIZE', values.wholeNumber(2, 500)),
    redisUrl: secret('REDIS_URL', redisUrl),

    metricsHost: plain('LATCHKEY_METRICS_HOST', values.host),
    metricsPort: plain('LATCHKEY_METRICS_PORT', values.port),
    metricsToken: secret('LATCHKEY_METRICS_TOKEN', values.longText(20)),

    webhookAllowedNetworks: plain('LATCHKEY_WEBHOOK_ALLOWED_NETWORKS', values.networks),

    storageQuotaMib: plain('LATCHKEY_STORAGE_QUOTA_MIB', values.wholeNumber(1, 1_000_000)),
    eventsRate: plain('LATCHKEY_EVENTS_RATE', values.rate),
    eventNames: plain('LATCHKEY_EVENT_NAMES', values.patternList),
    eventsKeepDays: plain('LATCHKEY_EVENTS_KEEP_DAYS', values.wholeNumber(1, 36_500)),
    checkRevealHours: plain('LATCHKEY_CHECK_REVEAL_HOURS', values.wholeNumber(0, 8_760)),

    webhookSecrets: forEachProvider((provider) => {
      const { secretsVariable, readSecrets } = PROVIDER_SETTINGS[provider];
      return secret(secretsVariable, readSecrets);
    }),
    billingToleranceSeconds: plain('LATCHKEY_BILLING_TOLERANCE_S', values.wholeNumber(1, 3_600)),
    billingRawKeepDays: plain('LATCHKEY_BILLING_RAW_KEEP_DAYS', values.wholeNumber(30, 36_500)),
    paddleApiKey: secret('LATCHKEY_PADDLE_API_KEY', values.anyText),
    paddleApiUrl: plain('LATCHKEY_PADDLE_API_URL', values.webUrl),
    gumroadAccessToken: secret('LATCHKEY_GUMROAD_ACCESS_TOKEN', values.anyText),
    gumroadApiUrl: plain('LATCHKEY_GUMROAD_API_URL', values.webUrl),
    stripeApiKey: secret('LATCHKEY_STRIPE_API_KEY', values.anyText),
    stripeApiUrl: plain('LATCHKEY_STRIPE_API_URL', values.webUrl),

    smtpUrl: secret(
      'LATCHKEY_SMTP_URL',
      values.url(['smtp:', 'smtps:'], 'smtps://user:password@mail.example.com'),
    ),
    mailFrom: plain('LATCHKEY_MAIL_FROM', values.mailbox),
    subscribeRate: plain('LATCHKEY_SUBSCRIBE_RATE', values.ratePerMinute),
    doubleOptIn: plain('LATCHKEY_DOUBLE_OPT_IN', values.onOrOff),
    dkimDomain: plain('LATCHKEY_DKIM_DOMAIN', values.domainName),
    dkimSelector: plain('LATCHKEY_DKIM_SELECTOR', values.domainName),
    dkimPrivateKey: secret('LATCHKEY_DKIM_PRIVATE_KEY', values.privateKeyPem),
    outreachApiKey: secret('LATCHKEY_OUTREACH_API_KEY', values.longText(20)),

    passwords: plain('LATCHKEY_PASSWORDS', values.onOrOff),
    oidcIssuer: plain(
      'LATCHKEY_OIDC_ISSUER',
      values.url(['https:', 'http:'], 'https://login.example.com'),
    ),
    oidcClientId: plain('LATCHKEY_OIDC_CLIENT_ID', values.anyText),
    oidcClientSecret: secret('LATCHKEY_OIDC_CLIENT_SECRET', values.anyText),
    oidcName: plain('LATCHKEY_OIDC_NAME', values.anyText),
    oidcClaim: plain('LATCHKEY_OIDC_CLAIM', values.anyText),
    oidcRoles: plain('LATCHKEY_OIDC_ROLES', values.roleRules),
    trustedHeader: plain('LATCHKEY_TRUSTED_HEADER', values.headerName),
    trustedHeaderProxies: plain('LATCHKEY_TRUSTED_HEADER_PROXIES', values.trustedProxies),
  };
}

interface Reader {
  /** The names read so far. */
  readonly names: Set<string>;
  readonly problems: string[];
  readonly plain: <T>(name: string, parse: Parse<T>) => T | undefined;
  /** Like `plain`, also from the file in `NAME_FILE`; messages never contain the value. */
  readonly secret: <T>(name: string, parse: Parse<T>) => T | undefined;
}

function createReader(variables: Variables, readText: ReadText): Reader {
  const names = new Set<string>();
  const problems: string[] = [];
  const take = (name: string): string | undefined => {
    names.add(name);
    const text = variables[name]?.trim();
    return text === '' ? undefined : text;
  };

  const parseOrReport = <T>(
    text: string | undefined,
    parse: Parse<T>,
    describe: (must: string) => string,
  ) => {
    if (text === undefined) return undefined;
    const parsed = parse(text);
    if ('value' in parsed) return parsed.value;
    problems.push(describe(parsed.must));
    return undefined;
  };

  const readSecretFile = (name: string, path: string): string | undefined => {
    try {
      const text = readText(path).trim();
      if (text !== '') return text;
      problems.push(`${name}_FILE names ${path}, which is empty: write the secret into it.`);
    } catch (error) {
      problems.push(
        `${name}_FILE names ${path}, which cannot be read (${codeOf(error) ?? messageOf(error)}).`,
      );
    }
    return undefined;
  };

  return {
    names,
    problems,
    plain: (name, parse) => {
      const text = take(name);
      return parseOrReport(
        text,
        parse,
        (must) => `${name} must ${must}, not ${quote(text ?? '')}.`,
      );
    },
    secret: (name, parse) => {
      const direct = take(name);
      const path = take(`${name}_FILE`);
      if (direct !== undefined && path !== undefined) {
        problems.push(`${name} and ${name}_FILE are both set: remove one of them.`);
        return undefined;
      }
      const text = path === undefined ? direct : readSecretFile(name, path);
      return parseOrReport(text, parse, (must) => `${name} must ${must}.`);
    },
  };
}

/** Quotes a value without secrets, which may be in the wrong setting. */
function quote(text: string): string {
  const shown = scrub(text);
  return JSON.stringify(shown.length > 80 ? `${shown.slice(0, 80)}…` : shown);
}
