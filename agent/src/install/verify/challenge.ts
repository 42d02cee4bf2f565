import { request, type RequestOptions } from 'node:http';
import { request as requestSecurely } from 'node:https';

import { challengeProbe } from '../paths.ts';

const TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 1_000;
const MAX_REDIRECTS = 5;

/** Where an authority requests an answer, on port 80 of each address of a domain. */
const PROBE_PATH = `/.well-known/acme-challenge/${challengeProbe.name}`;

/** The answer of one address. */
export interface ChallengeAnswer {
  readonly address: string;
  /** Whether the address is one of this machine. */
  readonly isOwn: boolean;
  /** Whether the answer is our file; null without an answer. */
  readonly isOurs: boolean | null;
  /** The answer, or why there was none, in a few words. */
  readonly says: string;
}

/**
 * Requests the file in the challenge directory from addresses, as an authority will.
 * @param ports others than those of http and https, in tests only
 */
export async function requestChallenge(
  domain: string,
  addresses: readonly string[],
  own: readonly string[],
  ports = { http: 80, https: 443 },
): Promise<ChallengeAnswer[]> {
  return Promise.all(
    addresses.map(async (address) => {
      const start = new URL(`http://${domain}${PROBE_PATH}`);
      const answer = await follow(start, address, ports, MAX_REDIRECTS);
      return { address, isOwn: own.includes(address), ...answer };
    }),
  );
}

/**
 * Returns why a challenge would fail, as a sentence; null when it would not, or when that is unknown: an address of another
 * machine may be reachable from outside only.
 */
export function findChallengeProblem(
  domain: string,
  answers: readonly ChallengeAnswer[],
): string | null {
  const failed = answers.find(
    ({ isOwn, isOurs }) => isOurs === false || (isOwn && isOurs === null),
  );
  if (failed === undefined) return null;
  const url = `http://${domain}/.well-known/acme-challenge/`;
  const elsewhere = `${failed.address} is not an address of this machine: correct the record of ${domain} in the DNS.`;
  const here =
    'A redirect or another server block answers in its place: let nginx serve that path.';
  return `${url} is not answered from ${challengeProbe.directory} at ${failed.address} (${failed.says}), so the authority would refuse the certificate. ${failed.isOwn ? here : elsewhere}`;
}

type Outcome = Pick<ChallengeAnswer, 'isOurs' | 'says'>;

/** Follows redirects to other paths and to https without verifying its certificate, as authorities do. */
async function follow(
  url: URL,
  address: string,
  ports: { readonly http: number; readonly https: number },
  left: number,
): Promise<Outcome> {
  const answer = await ask(url, address, url.protocol === 'https:' ? ports.https : ports.http);
  if (answer.status === null) return { isOurs: null, says: answer.text };
  const { status, location, text } = answer;
  if (status === 200 && text === challengeProbe.text) return { isOurs: true, says: 'OK' };
  if (status < 300 || status > 399 || !URL.canParse(location, url.href) || left === 0)
    return { isOurs: false, says: `status ${status}` };
  const next = new URL(location, url);
  if (next.hostname !== url.hostname) return { isOurs: false, says: `a redirect to ${next.host}` };
  return follow(next, address, ports, left - 1);
}

type Answer =
  | { readonly status: number; readonly location: string; readonly text: string }
  | { readonly status: null; readonly text: string };

async function ask(url: URL, host: string, port: number): Promise<Answer> {
  const options: RequestOptions & { rejectUnauthorized: boolean; servername: string } = {
    host,
    port,
    path: url.pathname + url.search,
    headers: { Host: url.hostname },
    agent: false,
    servername: url.hostname,
    rejectUnauthorized: false,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  };
  const send = url.protocol === 'https:' ? requestSecurely : request;
  return new Promise((resolve) => {
    const sent = send(options, (response) => {
      const { statusCode = 0, headers } = response;
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        if (text.length < MAX_BODY_BYTES) text += part;
      });
      response.once('error', (error) => resolve({ status: null, text: error.message }));
      response.once('end', () =>
        resolve({ status: statusCode, location: headers.location ?? '', text }),
      );
    });
    sent.once('error', (error) => resolve({ status: null, text: error.message }));
    sent.end();
  });
}
