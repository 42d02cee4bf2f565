import { homedir } from 'node:os';
import { join } from 'node:path';
import * as tls from 'node:tls';

import { SYSTEM, type DatabaseTls, type TlsMode } from '#server/config/database-tls.ts';
import { RemedyError } from '#server/config/startup-error.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

/** How a connection is attempted. */
export type Attempt = 'plain' | 'tls';

/** What is checked of the server's certificate: nothing, the authorities that signed it, or its host name, too. */
export type Verification = 'none' | 'chain' | 'host';

/** How connections use TLS. */
export interface TlsPlan {
  /** Over TCP, in order; a socket of this machine is never encrypted. */
  readonly attempts: readonly Attempt[];
  readonly verification: Verification;
  readonly negotiation: DatabaseTls['negotiation'];
  readonly channelBinding: DatabaseTls['channelBinding'];
  /** Null: no attempt uses TLS. */
  readonly context: tls.SecureContext | null;
}

/** Where the name of a file is from. */
interface PemSource {
  /** The name of the setting with the URL, for errors. */
  readonly setting: string;
  /** Whether it is a default file of libpq, which neither the URL nor a variable names. */
  readonly isDefault: boolean;
}

/** Reads a file as text; null: there is none, or a default one is out of reach. */
export type ReadPem = (
  path: string,
  kind: 'certificate' | 'key',
  source: PemSource,
) => string | null;

const ATTEMPTS: Readonly<Record<TlsMode, readonly Attempt[]>> = {
  disable: ['plain'],
  allow: ['plain', 'tls'],
  prefer: ['tls', 'plain'],
  require: ['tls'],
  'verify-ca': ['tls'],
  'verify-full': ['tls'],
};

/** As libpq, which verifies with any mode if it has a root certificate. */
export function chooseVerification(mode: TlsMode, hasRoot: boolean): Verification {
  if (mode === 'verify-full') return 'host';
  return hasRoot || mode === 'verify-ca' ? 'chain' : 'none';
}

/** The default files of libpq, of the account that runs this process. */
function defaultFile(name: string): string {
  return join(homedir(), '.postgresql', name);
}

/**
 * Reads the certificates that the settings name. They are read once, since the process may drop its rights later.
 * @param setting the name of the setting with the URL, for errors
 * @throws RemedyError when a file is missing or unusable
 */
export function planTls(settings: DatabaseTls, read: ReadPem, setting: string): TlsPlan {
  const { mode, negotiation, channelBinding } = settings;
  const attempts = ATTEMPTS[mode];
  if (!attempts.includes('tls')) {
    return { attempts, verification: 'none', negotiation, channelBinding, context: null };
  }
  const files = { setting, read };
  const authorities = readAuthorities(settings, files);
  const verification = chooseVerification(mode, authorities !== null);
  if (verification !== 'none' && authorities === null) throw lacksRoot(setting, mode);
  const context = createContext(setting, {
    minVersion: settings.minVersion,
    maxVersion: settings.maxVersion,
    ...(authorities === null ? {} : { ca: authorities }),
    ...readRevocations(settings, files),
    ...readClientCertificate(settings, files),
  });
  return { attempts, verification, negotiation, channelBinding, context };
}

function lacksRoot(setting: string, mode: TlsMode): RemedyError {
  return new RemedyError({
    problem: `${setting} has sslmode=${mode}, but names no certificate of an authority`,
    fix: 'add sslrootcert=/path/of/authority.pem, or sslmode=verify-full&sslrootcert=system for a certificate of a public authority',
  });
}

interface Files {
  readonly setting: string;
  readonly read: ReadPem;
}

const CERTIFICATE = /-----BEGIN (?:(?:TRUSTED|X509) )?CERTIFICATE-----/u;

function readAuthorities({ rootCertificate }: DatabaseTls, files: Files): string[] | null {
  if (rootCertificate === SYSTEM) return listSystemAuthorities();
  const path = rootCertificate ?? defaultFile('root.crt');
  const text = readNamed('sslrootcert', rootCertificate, path, files);
  if (text === null || CERTIFICATE.test(text)) return text === null ? null : [text];
  throw new RemedyError({
    problem: `${files.setting} names ${path} as sslrootcert, which contains no certificate in PEM format`,
    fix: 'convert it with openssl x509 -inform der, or correct the path',
  });
}

/** Those of the operating system and of Node.js, with NODE_EXTRA_CA_CERTS. */
function listSystemAuthorities(): string[] {
  // Node.js before 22.15 knows only its own.
  if (!Reflect.has(tls, 'getCACertificates')) return [...tls.rootCertificates];
  return [...new Set([...tls.getCACertificates('system'), ...tls.getCACertificates('default')])];
}

function readRevocations(
  { revocationList }: DatabaseTls,
  files: Files,
): Pick<tls.SecureContextOptions, 'crl'> {
  const path = revocationList ?? defaultFile('root.crl');
  const crl = readNamed('sslcrl', revocationList, path, files);
  return crl === null ? {} : { crl };
}

function readClientCertificate(
  { certificate, key, keyPassword }: DatabaseTls,
  files: Files,
): Pick<tls.SecureContextOptions, 'cert' | 'key' | 'passphrase'> {
  const path = certificate ?? defaultFile('postgresql.crt');
  const cert = readNamed('sslcert', certificate, path, files);
  if (cert === null) return {};
  const keyPath = key ?? defaultFile('postgresql.key');
  const keyText = files.read(keyPath, 'key', {
    setting: files.setting,
    isDefault: key === null,
  });
  if (keyText === null) throw missing(files.setting, 'sslkey', keyPath);
  return { cert, key: keyText, ...(keyPassword === null ? {} : { passphrase: keyPassword }) };
}

/** Only a default file may be missing: without a file that the URL names, the connection would be less safe than it seems. */
function readNamed(
  parameter: string,
  named: string | null,
  path: string,
  { setting, read }: Files,
): string | null {
  const text = read(path, 'certificate', { setting, isDefault: named === null });
  if (text === null && named !== null) throw missing(setting, parameter, path);
  return text;
}

function createContext(setting: string, options: tls.SecureContextOptions): tls.SecureContext {
  try {
    return tls.createSecureContext(options);
  } catch (error) {
    const problem = `The certificates of ${setting} cannot be used (${messageOf(error)})`;
    const fix =
      'check that the files of sslrootcert, sslcert, sslkey and sslcrl are in PEM format, and that the key belongs to the certificate';
    throw new RemedyError({ problem, fix }, { cause: error });
  }
}

function missing(setting: string, parameter: string, path: string): RemedyError {
  return new RemedyError({
    problem: `${setting} needs ${path} as ${parameter}, which does not exist`,
    fix: 'correct the path, or create the file',
  });
}
