import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

import { codeOf, messageOf } from '../errors.ts';
import { CIPHER_SUITES } from './cipher-suites.ts';
import { noRevocations, readRevocations, type Revocations } from './revocations.ts';

const MAX_BYTES = 1024 * 1024;

/** Paths of the TLS files. */
export interface TlsPaths {
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Null without mutual TLS. */
  readonly clients: {
    readonly authorityFile: string;
    readonly revocationFile: string | null;
  } | null;
}

/** The content of the TLS files, complete and consistent. */
export interface TlsMaterial {
  readonly context: SecureContextOptions;
  readonly certificate: X509Certificate;
  /** Null without mutual TLS. */
  readonly clients: {
    readonly authorities: readonly X509Certificate[];
    readonly revocations: Revocations;
  } | null;
}

/** A TLS file is unusable. */
export class TlsFileError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TlsFileError';
  }
}

/** Lists all TLS files. */
export function listTlsFiles({ certificateFile, keyFile, clients }: TlsPaths): string[] {
  const others = clients === null ? [] : [clients.authorityFile, clients.revocationFile];
  return [certificateFile, keyFile, ...others].filter((path) => path !== null);
}

/**
 * Reads the TLS files.
 * @throws TlsFileError naming the file and its problem
 */
export function readTlsMaterial(paths: TlsPaths): TlsMaterial {
  const cert = readText(paths.certificateFile);
  const [certificate] = readCertificates(paths.certificateFile, cert);
  const key = readText(paths.keyFile);
  checkKey(paths, certificate, key);
  const clients = paths.clients === null ? null : readClients(paths.clients);
  const context: SecureContextOptions = {
    cert,
    key,
    minVersion: 'TLSv1.2',
    ciphers: CIPHER_SUITES,
    honorCipherOrder: true,
    // A TLS 1.2 renegotiation costs the server a handshake, and no viewer needs one.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(clients === null ? {} : clients.context),
  };
  try {
    createSecureContext(context);
  } catch (error) {
    const { certificateFile, keyFile } = paths;
    const what = `${certificateFile} and ${keyFile} cannot be used together`;
    throw new TlsFileError(`${what}: ${messageOf(error)}`, { cause: error });
  }
  return { context, certificate, clients };
}

/** A TLS context accepts a key of another type than the certificate's, and every handshake fails. */
function checkKey({ certificateFile, keyFile }: TlsPaths, own: X509Certificate, pem: string): void {
  let isOwn: boolean;
  try {
    isOwn = own.checkPrivateKey(createPrivateKey(pem));
  } catch (error) {
    throw new TlsFileError(explainKeyError(keyFile, messageOf(error)), { cause: error });
  }
  if (!isOwn) throw new TlsFileError(`${keyFile} is not the key of ${certificateFile}.`);
}

function explainKeyError(keyFile: string, message: string): string {
  return /interrupted or cancelled|bad decrypt/u.test(message)
    ? `${keyFile} is protected by a passphrase: write it without one.`
    : `${keyFile} contains no usable private key (PEM): ${message}`;
}

function readClients(paths: NonNullable<TlsPaths['clients']>) {
  const ca = readText(paths.authorityFile);
  const authorities = readCertificates(paths.authorityFile, ca);
  const { revocationFile } = paths;
  if (revocationFile === null) {
    return { authorities, revocations: noRevocations, context: { ca } };
  }
  const crl = splitPem(readText(revocationFile), 'X509 CRL');
  if (crl.length === 0) {
    throw new TlsFileError(`${revocationFile} contains no "BEGIN X509 CRL": write it as PEM.`);
  }
  try {
    const revocations = readRevocations(crl.map(toDer));
    return { authorities, revocations, context: { ca, crl: [...crl] } };
  } catch (error) {
    const message = `${revocationFile} is not a list of revoked certificates: ${messageOf(error)}`;
    throw new TlsFileError(message, { cause: error });
  }
}

/** Parses the certificates of a file: at least one. */
function readCertificates(path: string, text: string): [X509Certificate, ...X509Certificate[]] {
  try {
    const [first, ...others] = splitPem(text, 'CERTIFICATE').map((pem) => new X509Certificate(pem));
    if (first !== undefined) return [first, ...others];
  } catch (error) {
    throw new TlsFileError(`${path} contains an invalid certificate: ${messageOf(error)}`, {
      cause: error,
    });
  }
  throw new TlsFileError(`${path} contains no "BEGIN CERTIFICATE": write it as PEM.`);
}

function readText(path: string): string {
  try {
    if (statSync(path).size > MAX_BYTES) throw new Error('it is larger than 1 MiB');
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new TlsFileError(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function splitPem(text: string, label: string): readonly string[] {
  const block = new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----`, 'gu');
  return Array.from(text.matchAll(block), ([pem]) => pem);
}

function toDer(pem: string): Buffer {
  return Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/gu, ''), 'base64');
}

/** Checking a few files takes microseconds; inotify fails with links that are replaced. */
const INTERVAL_MS = 5_000;

/**
 * Watches files and reports a change once it is complete, so that a certificate is not read before its key is written.
 */
export function watchFiles(
  paths: readonly string[],
  onChange: () => void,
  intervalMs = INTERVAL_MS,
): Disposable {
  let reported = signatureOf(paths);
  let last = reported;
  const timer = setInterval(() => {
    const now = signatureOf(paths);
    const isStable = now === last;
    last = now;
    if (!isStable || now === reported) return;
    reported = now;
    onChange();
  }, intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function signatureOf(paths: readonly string[]): string {
  return paths.map(describeFile).join('\n');
}

/** ctime also changes with permissions, and when a copy keeps the mtime of its original. */
function describeFile(path: string): string {
  try {
    const { ino, size, ctimeMs } = statSync(path);
    return `${ino} ${size} ${ctimeMs}`;
  } catch (error) {
    // Missing or inaccessible: the reader reports the problem.
    return codeOf(error) || 'unknown';
  }
}
