import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';

/** Of agents; addresses that begin with wss:// have that of https where they name none. */
const AGENT_PORT = 4096;
const HTTPS_PORT = 443;
const MAX_FILE_BYTES = 1024 * 1024;

/** Where the agent is, and by what the two know each other. */
export interface Target {
  readonly url: URL;
  readonly host: string;
  readonly port: number;
  /** As a person would write it. */
  readonly address: string;
  readonly secureContext: SecureContext;
  /** SHA-256 of the one certificate that is trusted, in hexadecimal digits; null: what authorities have signed. */
  readonly fingerprint: string | null;
  readonly token: string | null;
}

/** What a person says of it. */
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
 * Reads the files that are named.
 * @throws Error with a sentence about the file that cannot be used
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
 * Reads an address: that of a proxy, such as `wss://db-1.example.com/latchkey`, that of an agent,
 * `wss://db-1.example.com:4096`, or of the latter the name alone.
 * @throws Error with a sentence
 */
export function parseAddress(text: string): URL {
  const isName = /^(?:[a-z\d.-]+|\[[a-f\d:.]+\])$/iu.test(text);
  const hasScheme = /^[a-z]+:\/\//iu.test(text);
  const url = URL.parse(`${hasScheme ? '' : 'wss://'}${text}${isName ? `:${AGENT_PORT}` : ''}`);
  if (url === null || url.hostname === '') {
    throw new Error('it is no address such as wss://db-1:4096');
  }
  if (url.protocol !== 'wss:') throw new Error('agents speak TLS only: it begins with wss://');
  if (url.username !== '' || url.hash !== '') {
    throw new Error('it has no room for names and fragments');
  }
  return url;
}

/**
 * Reads a fingerprint as programs write it, such as `sha256:1f:2e…` or `SHA256 Fingerprint=1F:2E…`.
 * @returns 64 hexadecimal digits
 * @throws Error with a sentence
 */
export function parseFingerprint(text: string): string {
  const digits = text.replace(/^sha-?256(?: fingerprint)?[:=]/iu, '').replaceAll(':', '');
  if (/^[\da-f]{64}$/iu.test(digits)) return digits.toLowerCase();
  throw new Error('it is sha256: and 64 hexadecimal digits');
}

function openContext(options: TargetOptions): SecureContext {
  const { certificate, key, pkcs12, passphraseFile, ca } = options;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error('A client certificate is two files: give both --certificate and --key.');
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
  const message = error instanceof Error ? error.message : String(error);
  if (/mac verify|bad decrypt|interrupted or cancelled|empty password/iu.test(message)) {
    return 'The passphrase of the client certificate is missing or wrong: give --passphrase-file.';
  }
  if (/mismatch/iu.test(message)) return 'The key is not that of the client certificate.';
  if (/unsupported/iu.test(message)) {
    return 'The PKCS#12 file is of an old kind: write it anew with a current openssl.';
  }
  return `The files of the certificate cannot be used: ${message}.`;
}

function readToken(path: string): string {
  const token = readLine(path);
  if (/^[\w.~-]{1,200}$/u.test(token)) return token;
  throw new Error(`${path} holds no access token in its first line.`);
}

/** The first line that says something. */
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
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${path} cannot be read: ${why}`, { cause: error });
  }
}
