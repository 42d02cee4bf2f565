import type { CertificateFiles, InstalledFacts } from './facts.ts';
import { findTypos } from './find-typos.ts';
import * as rules from './option-rules.ts';

/** The options of an installation. Null means not given. */
export interface InstallOptions {
  readonly domain: string;
  /** Required only where certbot issues a certificate. */
  readonly email: string | null;
  readonly mode: 'auto' | 'proxy' | 'standalone';
  readonly forcesStandalone: boolean;
  readonly proxyPath: string;
  /** Proxy mode behind a web server that the administrator configures. */
  readonly proxyByHand: boolean;
  readonly mutualTls: boolean;
  /** The directory URL of an authority other than certbot's default. */
  readonly acmeServer: string | null;
  /** A certificate of the administrator's own, instead of one by certbot. */
  readonly certificateFiles: CertificateFiles | null;
  readonly scrapeIntervalSeconds: number | null;
  /** The pages of other sites that may watch. */
  readonly allowedOrigins: readonly string[] | null;
  readonly opensFirewall: boolean;
  readonly skipsDnsCheck: boolean;
  /** Whether a version older than the installed one is accepted. */
  readonly allowsDowngrade: boolean;
}

export type ReadOptions =
  | { readonly options: InstallOptions; readonly notes: readonly string[] }
  | { readonly problems: readonly string[]; readonly notes: readonly string[] };

/** The parsed command line: texts, and true for a flag without one; undefined when not given. */
export type Flags = Readonly<Record<string, unknown>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Each option with its flag and its variable; the keys are the command line library's. */
const SOURCES = {
  domain: { flag: '--domain', variable: 'LATCHKEY_DOMAIN' },
  email: { flag: '--email', variable: 'LATCHKEY_EMAIL' },
  mode: { flag: '--mode', variable: 'LATCHKEY_INSTALL_MODE' },
  forceStandalone: { flag: '--force-standalone', variable: 'LATCHKEY_FORCE_STANDALONE' },
  proxyPath: { flag: '--proxy-path', variable: 'LATCHKEY_PROXY_PATH' },
  proxyByHand: { flag: '--proxy-by-hand', variable: 'LATCHKEY_PROXY_BY_HAND' },
  mtls: { flag: '--mtls', variable: 'LATCHKEY_MTLS' },
  acmeServer: { flag: '--acme-server', variable: 'LATCHKEY_ACME_SERVER' },
  certFile: { flag: '--cert-file', variable: 'LATCHKEY_CERT_FILE' },
  keyFile: { flag: '--key-file', variable: 'LATCHKEY_KEY_FILE' },
  scrapeInterval: { flag: '--scrape-interval', variable: 'LATCHKEY_SCRAPE_INTERVAL' },
  allowedOrigins: { flag: '--allowed-origins', variable: 'LATCHKEY_ALLOWED_ORIGINS' },
  openFirewall: { flag: '--open-firewall', variable: 'LATCHKEY_OPEN_FIREWALL' },
  skipDnsCheck: { flag: '--skip-dns-check', variable: 'LATCHKEY_SKIP_DNS_CHECK' },
  allowDowngrade: { flag: '--allow-downgrade', variable: 'LATCHKEY_AGENT_ALLOW_DOWNGRADE' },
} as const;

type Name = keyof typeof SOURCES;

const DEFAULT_PROXY_PATH = '/latchkey';

const readMode = rules.oneOf('auto', 'standalone', 'proxy');

/**
 * Reads the options: from flags, else variables, else the existing installation, else the defaults.
 * @returns the options, or all problems as sentences with their fixes; and notes on variables that are probably misspelled
 */
export function readOptions(
  flags: Flags,
  environment: Environment,
  installed: InstalledFacts | null,
): ReadOptions {
  const reader = new OptionReader(flags, environment);
  const options: InstallOptions = {
    domain: reader.require('domain', rules.readDomain, installed?.domain),
    email: reader.read('email', rules.readEmail, null),
    ...readAccess(reader, installed),
    mutualTls: reader.read('mtls', rules.readFlag, installed?.mutualTls ?? false),
    acmeServer: reader.read('acmeServer', rules.readAcmeServer, null),
    certificateFiles: reader.readPair() ?? installed?.certificateFiles ?? null,
    scrapeIntervalSeconds: reader.read('scrapeInterval', rules.readInterval, null),
    allowedOrigins: reader.read('allowedOrigins', rules.readOrigins, null),
    opensFirewall: reader.read('openFirewall', rules.readFlag, false),
    skipsDnsCheck: reader.read('skipDnsCheck', rules.readFlag, false),
    allowsDowngrade: reader.read('allowDowngrade', rules.readFlag, false),
  };
  const notes = describeTypos(environment);
  return reader.problems.length > 0 ? { problems: reader.problems, notes } : { options, notes };
}

type Access = Pick<InstallOptions, 'forcesStandalone' | 'mode' | 'proxyByHand' | 'proxyPath'>;

/** Reads how viewers reach the agent. */
function readAccess(reader: OptionReader, installed: InstalledFacts | null): Access {
  const mode = reader.read('mode', readMode, 'auto');
  const forcesStandalone = reader.read('forceStandalone', rules.readFlag, false);
  const isOpen = mode === 'auto' && !forcesStandalone;
  // Another mode ends a manual proxy unless the option is repeated.
  const byDefault = isOpen && (installed?.proxyByHand ?? false);
  const proxyByHand = reader.read('proxyByHand', rules.readFlag, byDefault);
  const path = installed?.proxyPath ?? DEFAULT_PROXY_PATH;
  const proxyPath = reader.read('proxyPath', rules.readProxyPath, path);
  if (forcesStandalone && mode === 'proxy') reader.reportContradiction('forceStandalone', 'mode');
  if (forcesStandalone) reader.reportContradiction('forceStandalone', 'proxyByHand');
  if (mode === 'standalone') reader.reportContradiction('mode', 'proxyByHand');
  return { mode, forcesStandalone, proxyByHand, proxyPath };
}

/** Reads options one by one and collects problems; the default that replaces an invalid value is never used. */
class OptionReader {
  readonly problems: string[] = [];
  readonly #flags: Flags;
  readonly #environment: Environment;

  constructor(flags: Flags, environment: Environment) {
    this.#flags = flags;
    this.#environment = environment;
  }

  read<T, Default extends T | null>(
    name: Name,
    rule: rules.Rule<T>,
    byDefault: Default,
  ): T | Default {
    const given = this.#find(name);
    if (given === null) return byDefault;
    const read = rule(given.text);
    if ('value' in read) return read.value;
    this.problems.push(`${given.source} ${read.problem}.`);
    return byDefault;
  }

  require(name: Name, rule: rules.Rule<string>, byDefault: string | undefined): string {
    if (this.#find(name) === null && byDefault === undefined) {
      const { flag, variable } = SOURCES[name];
      this.problems.push(
        `The domain is missing: give the name by which viewers reach this machine with ${flag} or ${variable}, such as monitor.example.com.`,
      );
    }
    return this.read(name, rule, byDefault ?? '');
  }

  readPair(): InstallOptions['certificateFiles'] {
    const certificate = this.read('certFile', rules.readFile, null);
    const key = this.read('keyFile', rules.readFile, null);
    if (certificate !== null && key !== null) return { certificate, key };
    const [given, missing] = this.#find('certFile')
      ? (['certFile', 'keyFile'] as const)
      : (['keyFile', 'certFile'] as const);
    const source = this.#find(given)?.source;
    if (source !== undefined && this.#find(missing) === null) {
      const { flag, variable } = SOURCES[missing];
      this.problems.push(
        `${source} needs the other file, too: give it with ${flag} or ${variable}.`,
      );
    }
    return null;
  }

  /** Reports two options that exclude each other, unless one of them is `no`. */
  reportContradiction(...names: readonly [Name, Name]): void {
    const given = names.map((name) => this.#find(name)).filter((each) => each !== null);
    const [one, other] = given.filter(({ text }) => text !== 'no').map(describeGiven);
    if (one === undefined || other === undefined) return;
    this.problems.push(`${one} contradicts ${other}: leave one of them out.`);
  }

  /** Treats an empty variable as not given: scripts also set variables without a value. */
  #find(name: Name): { readonly text: string; readonly source: string } | null {
    const { flag, variable } = SOURCES[name];
    const byFlag = this.#flags[name];
    if (byFlag === true) return { text: 'yes', source: flag };
    if (typeof byFlag === 'string') return { text: byFlag, source: flag };
    const text = this.#environment[variable] ?? '';
    return text === '' ? null : { text, source: variable };
  }
}

/** A flag needs no value to be clear. */
function describeGiven({
  source,
  text,
}: {
  readonly source: string;
  readonly text: string;
}): string {
  return text === 'yes' ? source : `${source} ${text}`;
}

function describeTypos(environment: Environment): string[] {
  const known = Object.values(SOURCES).map(({ variable }) => variable);
  return findTypos(environment, known).map(
    ({ given, meant }) => `${given} is unknown and was ignored. Did you mean ${meant}?`,
  );
}
