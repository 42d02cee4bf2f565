import { classifyFailure } from './classify-failure.ts';
import type { FailedResult } from './mail-transport.ts';
import { loadNodemailer, readRelayUrl } from './smtp-transport.ts';

const TIMEOUT_MS = 10_000;

/**
 * Connects to a relay, logs in if that is configured, and hangs up: no e-mail is sent. Never throws.
 * @param timeoutMs for all of it
 * @returns why the relay cannot be used; null when it can
 */
export async function checkRelay(
  url: string,
  timeoutMs = TIMEOUT_MS,
): Promise<FailedResult | null> {
  const { createTransport } = await loadNodemailer();
  const transport = createTransport({
    ...readRelayUrl(url),
    connectionTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
  const { promise: late, resolve } = Promise.withResolvers<FailedResult>();
  const timer = setTimeout(
    () => resolve({ outcome: 'temporary', reason: 'timeout', answer: null }),
    timeoutMs,
  );
  const asked = transport.verify().then(() => null, classifyFailure);
  const failure = await Promise.race([asked, late]);
  clearTimeout(timer);
  transport.close();
  return failure;
}
