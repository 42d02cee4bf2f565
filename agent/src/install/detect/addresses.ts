import { CANCELLED, lookup, Resolver, TIMEOUT } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

import { codeOf } from '../../errors.ts';
import { readText } from '../../read/small-file.ts';
import type { Detection } from '../../system/run-program.ts';

/** An answer takes milliseconds. */
const DNS_TIMEOUT_MS = 2_500;

/** Errors that a name server or the kernel returned at once. */
const ANSWERED: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/** Errors that mean that the name does not exist, rather than that the query failed. */
const NAMELESS: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** The addresses of a name. */
export interface NameLookup {
  /** Empty when the name has none, and when that is unknown. */
  readonly addresses: readonly string[];
  /** Why the addresses are unknown: a c-ares error, such as `ETIMEOUT`; null when they are known. */
  readonly resolverFault: string | null;
}

/** Returns the addresses by which others may reach this machine. */
export function detectAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
}

/** Whether the kernel supports IPv6, so that a program may listen on `[::]`. */
export function detectIpv6({ root }: Detection): boolean {
  return (readText(join(root, '/', 'proc/net/if_inet6')) ?? '') !== '';
}

/**
 * Looks up the addresses of a name: in the DNS, as an authority does; otherwise in /etc/hosts and the like, without loopback
 * addresses. The timeout is five seconds.
 * @param servers name servers other than the machine's, in tests only
 */
export async function findAddresses(
  name: string,
  servers: readonly string[] = [],
): Promise<NameLookup> {
  const answers = await askDns(name, servers);
  const found = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  const codes = answers.flatMap((each) =>
    each.status === 'rejected' ? [explainLookupError(each.reason)] : [],
  );
  // The system's own lookup may take a minute where no server answers, and cannot be canceled.
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
    if (codeOf(error) !== '') return [];
    throw error;
  }
}

/** Returns the code of a failed query, which is canceled when it times out. */
function explainLookupError(error: unknown): string {
  const code = codeOf(error) || 'unknown error';
  return code === CANCELLED ? TIMEOUT : code;
}

function ipv4First(one: string, other: string): number {
  return Number(isIPv6(one)) - Number(isIPv6(other)) || one.localeCompare(other);
}
