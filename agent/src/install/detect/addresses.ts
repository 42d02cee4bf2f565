import { CANCELLED, lookup, Resolver, TIMEOUT } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

import { readText } from '../../read/small-file.ts';
import type { Detection } from '../run-program.ts';

/** An answer takes milliseconds; what takes longer does not answer. */
const DNS_TIMEOUT_MS = 2_500;

/** Somebody has answered at once, and be it that there is no such name, or no server. */
const ANSWERED: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/** That there is no such name, and not that it could not be asked. */
const NAMELESS: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** Where a name leads. */
export interface NameLookup {
  /** Empty when the name leads nowhere, and when that is not known. */
  readonly addresses: readonly string[];
  /** Why it is not known where the name leads: an error of c-ares, such as `ETIMEOUT`; null when it is known. */
  readonly resolverFault: string | null;
}

/** The addresses of this machine, by which others may reach it. */
export function detectAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
}

/** Whether the kernel speaks IPv6 at all, so that a program may listen on `[::]`. */
export function detectIpv6({ root }: Detection): boolean {
  return (readText(join(root, '/', 'proc/net/if_inet6')) ?? '') !== '';
}

/**
 * Looks up where a name leads: by the DNS, as the authority will ask; else by /etc/hosts and the like, without what leads
 * to this machine for itself only. It takes at most five seconds.
 * @param servers name servers other than those of the machine, in tests alone
 */
export async function findAddresses(
  name: string,
  servers: readonly string[] = [],
): Promise<NameLookup> {
  const answers = await askDns(name, servers);
  const found = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const codes = answers.flatMap((each) =>
    each.status === 'rejected' ? [codeOf(each.reason) ?? 'unknown error'] : [],
  );
  // The system's own look-up may take a minute where no server answers, and cannot be ended.
  const hasAnswer = codes.some((code) => ANSWERED.has(code));
  const all = found.length > 0 || !hasAnswer ? found : await findLocally(name);
  const fault = codes.find((code) => !NAMELESS.has(code));
  return {
    addresses: [...new Set(all)]
      .filter((address) => !/^(?:127\.|::1$)/u.test(address))
      .sort(ipv4First),
    resolverFault: all.length > 0 || fault === undefined ? null : fault,
  };
}

async function askDns(
  name: string,
  servers: readonly string[],
): Promise<readonly PromiseSettledResult<string[]>[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 });
  if (servers.length > 0) resolver.setServers(servers);
  const timer = setTimeout(() => resolver.cancel(), DNS_TIMEOUT_MS);
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  clearTimeout(timer);
  return answers;
}

async function findLocally(name: string): Promise<string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch (error) {
    if (codeOf(error) !== null) return [];
    throw error;
  }
}

/** What is cancelled here has taken too long. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  return error.code === CANCELLED ? TIMEOUT : String(error.code);
}

function ipv4First(one: string, other: string): number {
  return Number(isIPv6(one)) - Number(isIPv6(other)) || one.localeCompare(other);
}
