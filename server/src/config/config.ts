import { isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from './env.ts';
import type { LogLevel, Rate, RatePerMinute, RoleRule } from './env-values.ts';

/** The settings that may be shown and logged; `Secrets` has the others. */
export interface Config {
  readonly http: {
    readonly host: string;
    /** 0: a free port. */
    readonly port: number;
    /** The URL of the service for clients, without a trailing slash; the issuer of entitlements. */
    readonly publicUrl: string;
    /** Addresses and CIDR networks whose `X-Forwarded-For` is trusted. */
    readonly trustedProxies: readonly string[];
  };
  readonly log: { readonly level: LogLevel };
  /** Absolute path of the directory with the embedded database and the master secret. */
  readonly dataDirectory: string;
  /** Absolute path of the catalogue. */
  readonly catalogPath: string;
  readonly database: {
    /** `embedded`: PostgreSQL in the data directory; `external`: that of `DATABASE_URL`. */
    readonly kind: 'embedded' | 'external';
    readonly poolSize: number;
    /** A replica that is further behind is not read. */
    readonly replicaMaxLagSeconds: number;
    /** The account of the service and the embedded PostgreSQL if root starts them; null: chosen automatically. */
    readonly account: string | null;
  };
  readonly metrics: {
    readonly host: string;
    /** The port of a separate listener; null: none. */
    readonly port: number | null;
  };
  readonly storage: {
    /** MiB that a client network may store in a day without credentials. */
    readonly quotaMib: number;
  };
  readonly events: {
    readonly rate: Rate;
    /** Patterns with `*`; empty: events of all names are accepted. */
    readonly names: readonly string[];
    readonly keepDays: number;
  };
  readonly billing: {
    /** The largest difference between the time of a webhook's signature and the clock. */
    readonly toleranceSeconds: number;
    /** How long after its creation `check` returns a key. */
    readonly revealHours: number;
    /** How long the body of a payment event is stored. */
    readonly rawKeepDays: number;
    readonly paddleApiUrl: string;
    readonly gumroadApiUrl: string;
    readonly stripeApiUrl: string;
  };
  readonly mail: {
    /** Null while no mail is configured. */
    readonly from: string | null;
    readonly dkim: { readonly domain: string; readonly selector: string } | null;
  };
  readonly subscribers: {
    /** Whether new subscribers must confirm by e-mail, if mail is configured. */
    readonly doubleOptIn: boolean;
    /** The limit of subscriptions of a client network without an API key. */
    readonly rate: RatePerMinute;
  };
  readonly outgoingWebhooks: {
    /** Addresses and CIDR networks that are not public, and that endpoints may have. */
    readonly allowedNetworks: readonly string[];
  };
  readonly operators: {
    /** Whether operators sign in with passwords. */
    readonly passwords: boolean;
    readonly oidc: OidcConfig | null;
    readonly trustedHeader: TrustedHeaderConfig | null;
  };
}

/** The OpenID Connect provider that operators sign in with. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** For the sign-in page. */
  readonly name: string;
  /** The claim with the values that roles are given for. */
  readonly claim: string;
  readonly roles: readonly RoleRule[];
}

/** The header in which a proxy names the operator. */
export interface TrustedHeaderConfig {
  /** In lower case. */
  readonly name: string;
  /** Addresses and CIDR networks of the proxies that it counts from. */
  readonly proxies: readonly string[];
}

/** The default settings. */
export const defaults = {
  host: '127.0.0.1',
  port: 8080,
  trustedProxies: ['127.0.0.0/8', '::1/128'],
  logLevel: 'info',
  dataDirectory: './data',
  catalogPath: fileURLToPath(new URL('../../../catalog.example.yaml', import.meta.url)),
  databasePoolSize: 16,
  replicaMaxLagSeconds: 60,
  metricsHost: '127.0.0.1',
  storageQuotaMib: 256,
  eventsRate: { perSecond: 100, burst: 300 },
  // Thirteen months.
  eventsKeepDays: 396,
  billingToleranceSeconds: 30,
  // Thirteen months: a yearly subscription is renewed once in this time.
  billingRawKeepDays: 396,
  checkRevealHours: 24,
  paddleApiUrl: 'https://api.paddle.com',
  gumroadApiUrl: 'https://api.gumroad.com',
  stripeApiUrl: 'https://api.stripe.com',
  doubleOptIn: true,
  subscribeRate: { perMinute: 5, burst: 5 },
  passwords: true,
  oidcClaim: 'groups',
} as const satisfies Partial<Record<keyof Environment, unknown>>;

/**
 * Creates the configuration from the environment and the defaults.
 * @param workingDirectory the base of relative paths
 */
export function toConfig(environment: Environment, workingDirectory: string): Config {
  return {
    http: toHttp(environment),
    log: { level: environment.logLevel ?? defaults.logLevel },
    dataDirectory: resolve(workingDirectory, environment.dataDirectory ?? defaults.dataDirectory),
    catalogPath: resolve(workingDirectory, environment.catalogPath ?? defaults.catalogPath),
    database: {
      kind: environment.databaseUrl === undefined ? 'embedded' : 'external',
      poolSize: environment.databasePoolSize ?? defaults.databasePoolSize,
      replicaMaxLagSeconds: environment.replicaMaxLagSeconds ?? defaults.replicaMaxLagSeconds,
      account: environment.postgresAccount ?? null,
    },
    metrics: {
      host: environment.metricsHost ?? defaults.metricsHost,
      port: environment.metricsPort ?? null,
    },
    storage: { quotaMib: environment.storageQuotaMib ?? defaults.storageQuotaMib },
    events: toEvents(environment),
    billing: toBilling(environment),
    mail: { from: environment.mailFrom ?? null, dkim: toDkim(environment) },
    subscribers: {
      doubleOptIn: environment.doubleOptIn ?? defaults.doubleOptIn,
      rate: environment.subscribeRate ?? defaults.subscribeRate,
    },
    outgoingWebhooks: { allowedNetworks: environment.webhookAllowedNetworks ?? [] },
    operators: toOperators(environment),
  };
}

function toOperators(environment: Environment): Config['operators'] {
  const { trustedHeader: name, trustedHeaderProxies: proxies } = environment;
  return {
    passwords: environment.passwords ?? defaults.passwords,
    oidc: toOidc(environment),
    trustedHeader: name === undefined || proxies === undefined ? null : { name, proxies },
  };
}

function toOidc(environment: Environment): OidcConfig | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcRoles: roles } = environment;
  if (issuer === undefined || clientId === undefined || roles === undefined) return null;
  const name = environment.oidcName ?? new URL(issuer).hostname;
  return { issuer, clientId, roles, name, claim: environment.oidcClaim ?? defaults.oidcClaim };
}

function findOperatorConflicts(environment: Environment): string[] {
  const { oidcIssuer, oidcClientId, oidcRoles, trustedHeader, trustedHeaderProxies } = environment;
  const given = [oidcIssuer, oidcClientId, oidcRoles].filter((value) => value !== undefined).length;
  const isPlain =
    oidcIssuer !== undefined &&
    /^http:\/\/(?!(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/]|$))/u.test(oidcIssuer);
  const hasOther = oidcIssuer !== undefined || trustedHeader !== undefined;
  return [
    ...(given > 0 && given < 3
      ? [
          'LATCHKEY_OIDC_ISSUER, LATCHKEY_OIDC_CLIENT_ID and LATCHKEY_OIDC_ROLES belong together: set all three or none.',
        ]
      : []),
    ...(isPlain
      ? ['LATCHKEY_OIDC_ISSUER must be an https URL, except on a loopback address.']
      : []),
    ...((trustedHeader === undefined) !== (trustedHeaderProxies === undefined)
      ? [
          'LATCHKEY_TRUSTED_HEADER and LATCHKEY_TRUSTED_HEADER_PROXIES belong together: otherwise any client could send the header.',
        ]
      : []),
    ...(environment.passwords === false && !hasOther
      ? [
          'LATCHKEY_PASSWORDS=off needs another way to sign in: LATCHKEY_OIDC_ISSUER or LATCHKEY_TRUSTED_HEADER.',
        ]
      : []),
  ];
}

/** Returns a sentence for each contradiction between settings. */
export function findConflicts(environment: Environment): readonly string[] {
  const problems: string[] = [];
  const dkim = [environment.dkimDomain, environment.dkimSelector, environment.dkimPrivateKey];
  const dkimGiven = dkim.filter((value) => value !== undefined).length;
  if (dkimGiven > 0 && dkimGiven < dkim.length) {
    problems.push(
      'LATCHKEY_DKIM_DOMAIN, LATCHKEY_DKIM_SELECTOR and LATCHKEY_DKIM_PRIVATE_KEY belong together: set all three or none.',
    );
  }
  if (environment.smtpUrl !== undefined && environment.mailFrom === undefined) {
    problems.push(
      'LATCHKEY_MAIL_FROM must be set when LATCHKEY_SMTP_URL is set: it is the sender address of mail.',
    );
  }
  if (environment.replicaUrl !== undefined && environment.databaseUrl === undefined) {
    problems.push('LATCHKEY_REPLICA_URL needs DATABASE_URL: the embedded database has no replica.');
  }
  if (environment.doubleOptIn === true && environment.smtpUrl === undefined) {
    problems.push(
      'LATCHKEY_DOUBLE_OPT_IN=on asks subscribers by e-mail, which needs LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM.',
    );
  }
  problems.push(...findOperatorConflicts(environment));
  const port = environment.port ?? environment.platformPort ?? defaults.port;
  if (port !== 0 && environment.metricsPort === port) {
    problems.push(`LATCHKEY_METRICS_PORT must differ from the service's own port, ${port}.`);
  }
  return problems;
}

function toHttp(environment: Environment): Config['http'] {
  const host = environment.host ?? defaults.host;
  const port = environment.port ?? environment.platformPort ?? defaults.port;
  return {
    host,
    port,
    publicUrl: environment.publicUrl ?? localUrl(host, port),
    trustedProxies: environment.trustedProxies ?? defaults.trustedProxies,
  };
}

function toEvents(environment: Environment): Config['events'] {
  return {
    rate: environment.eventsRate ?? defaults.eventsRate,
    names: environment.eventNames ?? [],
    keepDays: environment.eventsKeepDays ?? defaults.eventsKeepDays,
  };
}

function toBilling(environment: Environment): Config['billing'] {
  return {
    toleranceSeconds: environment.billingToleranceSeconds ?? defaults.billingToleranceSeconds,
    revealHours: environment.checkRevealHours ?? defaults.checkRevealHours,
    rawKeepDays: environment.billingRawKeepDays ?? defaults.billingRawKeepDays,
    paddleApiUrl: environment.paddleApiUrl ?? defaults.paddleApiUrl,
    gumroadApiUrl: environment.gumroadApiUrl ?? defaults.gumroadApiUrl,
    stripeApiUrl: environment.stripeApiUrl ?? defaults.stripeApiUrl,
  };
}

function toDkim({ dkimDomain, dkimSelector }: Environment): Config['mail']['dkim'] {
  if (dkimDomain === undefined || dkimSelector === undefined) return null;
  return { domain: dkimDomain, selector: dkimSelector };
}

/** Returns the URL for a browser on this machine. */
function localUrl(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::';
  const name = everywhere ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return port === 80 ? `http://${name}` : `http://${name}:${port}`;
}
