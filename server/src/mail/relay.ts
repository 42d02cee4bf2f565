import type { SMTPPoolOptions } from 'nodemailer';

import { isLoopback } from '#server/lib/loopback.ts';
import { explainTlsFailure, type TlsFailure } from '#server/lib/tls-failure.ts';

import { classifyFailure } from './classify-failure.ts';
import type { FailedResult } from './mail-transport.ts';

/** Imports nodemailer at the first call; later calls read no file. */
export const loadNodemailer = () => import('nodemailer');

/** Parses `LATCHKEY_SMTP_URL`. TLS is required for a password, except on this machine. */
export function parseRelayUrl(
  text: string,
): Pick<SMTPPoolOptions, 'host' | 'port' | 'secure' | 'requireTLS' | 'auth'> {
  const url = new URL(text);
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[(?<inner>.*)\]$/u, '$<inner>');
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port);
  if (url.username === '') return { host, port, secure };
  return {
    host,
    port,
    secure,
    requireTLS: !secure && !isLoopback(host),
    auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
  };
}

const CHECK_TIMEOUT_MS = 10_000;

/** Why a relay cannot be used. */
export type RelayFailure = FailedResult & {
  /** Null: it is not about TLS, or the reply says enough. */
  readonly tls: TlsFailure | null;
};

/**
 * Connects to a relay, logs in if a login is configured, and disconnects without sending an e-mail. Never throws.
 * @param timeoutMs for the whole check
 * @returns why the relay cannot be used, or null when it can
 */
export async function checkRelay(
  url: string,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<RelayFailure | null> {
  const { createTransport } = await loadNodemailer();
  const transport = createTransport({
    ...parseRelayUrl(url),
    connectionTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
  const { promise: expired, resolve } = Promise.withResolvers<RelayFailure>();
  const timer = setTimeout(
    () => resolve({ outcome: 'temporary', reason: 'timeout', reply: null, tls: null }),
    timeoutMs,
  );
  const verified = transport.verify().then(() => null, explainFailure);
  const failure = await Promise.race([verified, expired]);
  clearTimeout(timer);
  transport.close();
  return failure;
}

function explainFailure(error: unknown): RelayFailure {
  return { ...classifyFailure(error), tls: explainTlsFailure(error) };
}
