import { isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from './env.ts';
import type { LogLevel, Rate, RatePerMinute } from './env-values.ts';

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
  doubleOptIn: true,
  subscribeRate: { perMinute: 5, burst: 5 },
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
  };
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
  if (environment.doubleOptIn === true && environment.smtpUrl === undefined) {
    problems.push(
      'LATCHKEY_DOUBLE_OPT_IN=on asks subscribers by e-mail, which needs LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM.',
    );
  }
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
