import { lookup, Resolver } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';

import { readText } from '../../read/small-file.ts';
import type { Detection } from './detection.ts';

/** An answer takes milliseconds; what takes longer does not answer. */
const DNS_TIMEOUT_MS = 2_500;

/** Somebody has answered at once, and be it that there is no such name, or no server. */
const ANSWERED: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

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
 * Where a name leads: by the DNS, as the authority will ask; else by /etc/hosts and the like, without what leads to
 * this machine for itself only. It takes at most five seconds.
 * @returns empty when the name leads nowhere, and when nobody answers
 */
export async function findAddresses(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 1 });
  const timer = setTimeout(() => resolver.cancel(), DNS_TIMEOUT_MS);
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  clearTimeout(timer);
  const found = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  // The system's own look-up may take a minute where no server answers, and cannot be ended.
  const hasAnswer = answers.some(
    (each) => each.status === 'rejected' && ANSWERED.has(codeOf(each.reason)),
  );
  const all = found.length > 0 || !hasAnswer ? found : await findLocally(name);
  return [...new Set(all)].filter((address) => !/^(?:127\.|::1$)/u.test(address)).sort(ipv4First);
}

async function findLocally(name: string): Promise<string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch (error) {
    if (codeOf(error) !== null) return [];
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null;
}

function ipv4First(one: string, other: string): number {
  return Number(isIPv6(one)) - Number(isIPv6(other)) || one.localeCompare(other);
}
