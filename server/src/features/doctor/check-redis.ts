/** Checks of doctor: the Redis of REDIS_URL, in which processes count limits together. */
import { explainTlsFailure } from '#server/lib/tls-failure.ts';
import { messageOf } from '#server/lib/unknown-values.ts';
import { inspectRedis, type RedisFacts } from '#server/redis/inspect-redis.ts';

import { type Finding, ok, warning, warningIf } from './finding.ts';
import { fixTls } from './fix-tls.ts';

const CHECK = 'redis';

/** While Redis cannot be used. */
const SYMPTOM = 'Limits of rates and guessing count on each machine alone.';

const OLDEST_VERSION = 6;

/** Checks that Redis can be used and keeps what it counts; returns no finding without REDIS_URL. */
export async function checkRedis(redisUrl: string | null): Promise<Finding[]> {
  if (redisUrl === null) return [];
  const { host } = new URL(redisUrl);
  try {
    const { facts, writeProblem } = await inspectRedis(redisUrl);
    // A node of a cluster refuses what belongs to another one.
    if (writeProblem !== null && !facts.isCluster) return [reportNotWritable(host, writeProblem)];
    const problems = judgeFacts(host, facts);
    return problems.length > 0 ? problems : [ok(CHECK, `${describe(facts)} at ${host} counts.`)];
  } catch (error) {
    return [reportUnavailable(host, error)];
  }
}

function describe({ product, version }: RedisFacts): string {
  return product === null ? 'A server that does not report its version' : `${product} ${version}`;
}

/** Returns the problems of a Redis that stores values. */
export function judgeFacts(host: string, facts: RedisFacts): Finding[] {
  const { evictionPolicy, isCluster, maxMemoryBytes, version } = facts;
  const isLimited = maxMemoryBytes !== null && maxMemoryBytes > 0;
  const evicts = isLimited && evictionPolicy !== null && evictionPolicy !== 'noeviction';
  return [
    ...warningIf(version !== null && Number.parseInt(version, 10) < OLDEST_VERSION, CHECK, {
      code: 'redis.version_unsupported',
      symptom: 'Limits of rates and guessing may not count once.',
      cause: `${host} runs ${describe(facts)}, and Latchkey is written for ${OLDEST_VERSION} or newer.`,
      fix: 'Update Redis, or use Valkey.',
      facts: { host, version },
    }),
    ...warningIf(isCluster, CHECK, {
      code: 'redis.cluster_unsupported',
      symptom: SYMPTOM,
      cause: `${host} belongs to a Redis Cluster, which redirects most commands.`,
      fix: 'Set REDIS_URL to a server without cluster mode.',
      facts: { host },
    }),
    ...warningIf(evicts, CHECK, {
      code: 'redis.evicts_counts',
      symptom: 'When Redis is full, it drops counts, and guesses start again from zero.',
      cause: `${host} has the maxmemory-policy ${evictionPolicy} and a limit of ${maxMemoryBytes} bytes.`,
      fix: 'Set maxmemory-policy to noeviction. If other programs need eviction, give Latchkey a Redis of its own: it needs a few megabytes.',
      facts: { host, policy: evictionPolicy, max_memory_bytes: maxMemoryBytes },
    }),
  ];
}

function reportNotWritable(host: string, problem: string): Finding {
  return warning(CHECK, {
    code: 'redis.not_writable',
    symptom: SYMPTOM,
    cause: `${host} does not store a value (${problem}).`,
    fix: 'Set REDIS_URL to the primary with free memory, and let its user run EVAL, GET and SET on keys that begin with latchkey:.',
    facts: { host },
  });
}

const SCHEME = 'Set REDIS_URL to rediss:// for a port with TLS, and to redis:// for one without.';

/** Explains an error of the connection to Redis. */
export function explainRedisFailure(error: unknown): { problem: string; fix: string } {
  const tls = explainTlsFailure(error);
  if (tls !== null) return { problem: tls.problem, fix: fixTls(tls, 'REDIS_URL', SCHEME) };
  return {
    problem: `cannot be used (${messageOf(error)})`,
    fix: 'Start it, and check REDIS_URL (scheme, host, port, password) and the firewall.',
  };
}

function reportUnavailable(host: string, error: unknown): Finding {
  const { problem, fix } = explainRedisFailure(error);
  return warning(CHECK, {
    code: 'redis.unavailable',
    symptom: SYMPTOM,
    cause: `The Redis of REDIS_URL at ${host} ${problem}.`,
    fix,
    facts: { host },
  });
}
