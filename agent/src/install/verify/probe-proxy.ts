import { detectAddresses } from '../detect/addresses.ts';
import type { InstalledFacts } from '../facts.ts';
import { type Answer, requestPage, describeAnswer } from './request.ts';

const HTTPS_PORT = 443;
const LOOPBACK = ['127.0.0.1', '::1'];

type Route = Pick<InstalledFacts, 'domain' | 'proxyPath'>;

/** The address where a local proxy answers for the agent's domain, and the problem with the answer. */
export interface ProxyProbe {
  readonly host: string;
  /** A sentence; null when the health route answers. */
  readonly problem: string | null;
}

/**
 * Requests the health route on loopback and on each of the machine's addresses, because a server block may listen on only one of
 * them.
 * @param port another port than 443, in tests only
 */
export async function probeProxy(
  route: Route,
  addresses: readonly string[] = [...LOOPBACK, ...detectAddresses()],
  port = HTTPS_PORT,
): Promise<ProxyProbe> {
  const path = `${route.proxyPath}/health`;
  const probes = await Promise.all(
    addresses.map(async (host) => {
      return { host, answer: await requestPage({ host, port, domain: route.domain, path }) };
    }),
  );
  const healthy = probes.find(({ answer }) => isHealthy(answer));
  if (healthy !== undefined) return { host: healthy.host, problem: null };
  // An answer explains more than a refused connection.
  const [first] = probes;
  const answered = probes.find(({ answer }) => answer.status !== null) ?? first;
  const reason = answered === undefined ? 'it has no address' : describeAnswer(answered.answer);
  return {
    host: answered?.host ?? '127.0.0.1',
    problem: `https://${route.domain}${path} does not answer OK through nginx: ${reason}.`,
  };
}

function isHealthy({ status, contentType, body }: Answer): boolean {
  return status === 200 && body === 'OK\n' && contentType.startsWith('text/plain');
}
