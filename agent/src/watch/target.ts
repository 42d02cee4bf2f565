import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';

import { messageOf } from '../errors.ts';

/** The default port of agents; URLs without a port use that of https. */
const AGENT_PORT = 4096;
const HTTPS_PORT = 443;
const MAX_FILE_BYTES = 1024 * 1024;

/** The address of an agent, and the credentials. */
export interface Target {
  readonly url: URL;
  readonly host: string;
  readonly port: number;
  /** For messages. */
  readonly address: string;
  readonly secureContext: SecureContext;
  /** SHA-256 of the only trusted certificate, in hexadecimal digits; null trusts authorities. */
  readonly fingerprint: string | null;
  readonly token: string | null;
}

/** The options of the command line. */
export interface TargetOptions {
  readonly tokenFile?: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly pkcs12?: string;
  readonly passphraseFile?: string;
  readonly ca?: string;
  readonly fingerprint?: string;
}

/**
 * Reads the files of the options.
 * @throws Error with a sentence about an unusable file
 */
export function openTarget(url: URL, options: TargetOptions): Target {
  const port = Number(url.port || HTTPS_PORT);
  const host = url.hostname.replaceAll(/[[\]]/gu, '');
  return {
    url,
    host,
    port,
    address: `${url.hostname}:${port}${url.pathname === '/' ? '' : url.pathname}`,
    secureContext: openContext(options),
    fingerprint: options.fingerprint ?? null,
    token: options.tokenFile === undefined ? null : readToken(options.tokenFile),
  };
}

/**
 * Parses the address of a proxy, such as `wss://db-1.example.com/latchkey`, of an agent, such as `wss://db-1.example.com:4096`, or
 * the host name of an agent.
 * @throws Error with a sentence
 */
export function parseAddress(text: string): URL {
  const isName = /^(?:[a-z\d.-]+|\[[a-f\d:.]+\])$/iu.test(text);
  const hasScheme = /^[a-z]+:\/\//iu.test(text);
  const url = URL.parse(`${hasScheme ? '' : 'wss://'}${text}${isName ? `:${AGENT_PORT}` : ''}`);
  if (url === null || url.hostname === '') {
    throw new Error('it is not an address such as wss://db-1:4096');
  }
  if (url.protocol !== 'wss:') throw new Error('agents use TLS only: it must begin with wss://');
  if (url.username !== '' || url.hash !== '') {
    throw new Error('user names and fragments are not supported');
  }
  return url;
}

/**
 * Parses a fingerprint as programs write it, such as `sha256:1f:2e…` or `SHA256 Fingerprint=1F:2E…`.
 * @returns 64 hexadecimal digits
 * @throws Error with a sentence
 */
export function parseFingerprint(text: string): string {
  const digits = text.replace(/^sha-?256(?: fingerprint)?[:=]/iu, '').replaceAll(':', '');
  if (/^[\da-f]{64}$/iu.test(digits)) return digits.toLowerCase();
  throw new Error('it must be sha256: and 64 hexadecimal digits');
}

function openContext(options: TargetOptions): SecureContext {
  const { certificate, key, pkcs12, passphraseFile, ca } = options;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error('A client certificate needs two files: use both --certificate and --key.');
  }
  const files = {
    ...(ca === undefined ? {} : { ca: readFile(ca) }),
    ...(certificate === undefined ? {} : { cert: readFile(certificate) }),
    ...(key === undefined ? {} : { key: readFile(key) }),
    ...(pkcs12 === undefined ? {} : { pfx: readFile(pkcs12) }),
    ...(passphraseFile === undefined ? {} : { passphrase: readLine(passphraseFile) }),
  };
  try {
    return createSecureContext({ ...files, minVersion: 'TLSv1.2' });
  } catch (error) {
    throw new Error(explainFiles(error), { cause: error });
  }
}

function explainFiles(error: unknown): string {
  const message = messageOf(error);
  if (/mac verify|bad decrypt|interrupted or cancelled|empty password/iu.test(message)) {
    return 'The passphrase of the client certificate is missing or wrong: use --passphrase-file.';
  }
  if (/mismatch/iu.test(message)) return 'The key does not match the client certificate.';
  if (/unsupported/iu.test(message)) {
    return 'The PKCS#12 file uses an obsolete algorithm: export it again with a current openssl.';
  }
  return `The files of the certificate cannot be used: ${message}.`;
}

function readToken(path: string): string {
  const token = readLine(path);
  if (/^[\w.~-]{1,200}$/u.test(token)) return token;
  throw new Error(`${path} contains no access token in its first line.`);
}

/** Returns the first line that is neither empty nor a comment. */
function readLine(path: string): string {
  const lines = readFile(path).toString('utf8').split('\n');
  return (
    lines.map((line) => line.trim()).find((line) => line !== '' && !line.startsWith('#')) ?? ''
  );
}

function readFile(path: string): Buffer {
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw new Error('it is larger than 1 MiB');
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
