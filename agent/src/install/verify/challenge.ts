// Tests whether an authority would receive the answer to a challenge.
import { challengeProbe } from '../paths.ts';
import { requestPage } from './request.ts';

const MAX_REDIRECTS = 5;

/** The path that an authority would request on port 80 of each address of a domain. */
const PROBE_PATH = `/.well-known/acme-challenge/${challengeProbe.name}`;

/** The answer of one address. */
export interface ChallengeAnswer {
  readonly address: string;
  /** Whether the address is one of this machine. */
  readonly isOwn: boolean;
  /** Whether the answer is the probe file; null without an answer. */
  readonly isOurs: boolean | null;
  /** The answer, or the reason for none, in a few words. */
  readonly summary: string;
}

/**
 * Requests the file in the challenge directory from addresses, as an authority will.
 * @param ports other ports than 80 and 443, in tests only
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
 * Returns why a challenge would fail, as a sentence; null when it would succeed or the outcome is unknown: an address of another
 * machine may be reachable only from outside.
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
  const here = 'A redirect or another server block answers instead: have nginx serve that path.';
  return `${url} is not answered from ${challengeProbe.directory} at ${failed.address} (${failed.summary}), so the authority would reject the request. ${failed.isOwn ? here : elsewhere}`;
}

type Outcome = Pick<ChallengeAnswer, 'isOurs' | 'summary'>;

/** Follows redirects to other paths and to https without verifying its certificate, as authorities do. */
async function follow(
  url: URL,
  address: string,
  ports: { readonly http: number; readonly https: number },
  left: number,
): Promise<Outcome> {
  const isPlain = url.protocol === 'http:';
  const { status, location, body, fault } = await requestPage({
    host: address,
    port: isPlain ? ports.http : ports.https,
    domain: url.hostname,
    path: url.pathname + url.search,
    isPlain,
  });
  if (status === null) return { isOurs: null, summary: fault ?? 'no answer' };
  if (status === 200 && body === challengeProbe.text) return { isOurs: true, summary: 'OK' };
  if (status < 300 || status > 399 || !URL.canParse(location, url.href) || left === 0)
    return { isOurs: false, summary: `status ${status}` };
  const next = new URL(location, url);
  if (next.hostname !== url.hostname)
    return { isOurs: false, summary: `a redirect to ${next.host}` };
  return follow(next, address, ports, left - 1);
}
