import { join } from 'node:path';

import type { AgentInterface, AgentNetwork } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { present, Rates, round } from '../metric-values.ts';
import { Scanner } from '../parse/scanner.ts';
import { KernelFile } from '../read/kernel-file.ts';
import type { Roots } from '../roots.ts';
import { type InterfaceFacts, readInterfaceFacts } from './interface-facts.ts';

/** How often the facts of an interface are read again. */
const FACTS_INTERVAL_MS = 10_000;

/** At most this many are shown: machines with more create them for containers. */
const MAX_INTERFACES = 64;

interface KnownInterface {
  readonly facts: InterfaceFacts | 'veth' | null;
  readonly refreshAtMs: number;
  readonly rates: Rates<keyof InterfaceCounters>;
}

/** Collects the traffic of interfaces from /proc/net/dev, without the loopback and the host's ends of containers' cables. */
export function openNetworkCollector(roots: Roots): Collector<AgentNetwork> {
  const file = new KernelFile(join(roots.proc, 'net/dev'));
  let known: ReadonlyMap<string, KnownInterface> = new Map();

  function recognise(name: string, atMs: number): KnownInterface {
    const before = known.get(name);
    if (before !== undefined && atMs < before.refreshAtMs) return before;
    const rates = before?.rates ?? new Rates<keyof InterfaceCounters>();
    const refreshAtMs = atMs + FACTS_INTERVAL_MS;
    return { facts: readInterfaceFacts(roots, name), refreshAtMs, rates };
  }

  return {
    collect(atMs) {
      const bytes = file.read();
      if (bytes === null) return null;
      const counters = parseNetDev(bytes);
      known = new Map([...counters.keys()].map((name) => [name, recognise(name, atMs)]));
      const interfaces = chooseInterfaces(known).map((name) =>
        describeInterface(name, known.get(name), counters.get(name), atMs),
      );
      return summarise(interfaces.filter((each) => each !== null));
    },
    close: () => file.close(),
  };
}

/** Selects interfaces: ends of cables (veth) only without physical interfaces, which means in a container. */
function chooseInterfaces(known: ReadonlyMap<string, KnownInterface>): string[] {
  const isContainer = ![...known.values()].some(({ facts }) => isPhysical(facts));
  return [...known]
    .filter(([, { facts }]) => facts !== null && (facts !== 'veth' || isContainer))
    .sort(([, a], [, b]) => Number(isPhysical(b.facts)) - Number(isPhysical(a.facts)))
    .map(([name]) => name)
    .slice(0, MAX_INTERFACES);
}

function isPhysical(facts: KnownInterface['facts']): boolean {
  return facts !== null && facts !== 'veth' && facts.kind === 'physical';
}

function describeInterface(
  name: string,
  known: KnownInterface | undefined,
  counters: InterfaceCounters | undefined,
  atMs: number,
): AgentInterface | null {
  if (known === undefined || counters === undefined || known.facts === null) return null;
  const facts: InterfaceFacts = known.facts === 'veth' ? { kind: 'virtual' } : known.facts;
  const rate = (field: keyof InterfaceCounters): number | null =>
    round(known.rates.next(field, counters[field], atMs));
  return {
    interface: name,
    ...facts,
    ...present({
      receive_bytes_per_second: rate('receive_bytes_total'),
      transmit_bytes_per_second: rate('transmit_bytes_total'),
      receive_packets_per_second: rate('receive_packets_total'),
      transmit_packets_per_second: rate('transmit_packets_total'),
    }),
    ...counters,
  };
}

/** Sums the traffic of the physical interfaces; without any, of the virtual ones. */
function summarise(interfaces: AgentInterface[]): AgentNetwork | null {
  if (interfaces.length === 0) return null;
  const physical = listCountedInterfaces(interfaces);
  const counted =
    physical.length > 0 ? physical : interfaces.filter(({ kind }) => kind === 'virtual');
  return {
    ...present({
      receive_bytes_per_second: sum(counted.map((each) => each.receive_bytes_per_second)),
      transmit_bytes_per_second: sum(counted.map((each) => each.transmit_bytes_per_second)),
    }),
    interfaces,
  };
}

/** Leaves out members of a failover pair (Azure, net_failover), whose traffic the master counts. */
function listCountedInterfaces(interfaces: readonly AgentInterface[]): AgentInterface[] {
  const physical = interfaces.filter(({ kind }) => kind === 'physical');
  const names = new Set(physical.map((each) => each.interface));
  return physical.filter(({ member_of }) => member_of === undefined || !names.has(member_of));
}

/** Sums rates; null while one is unknown, because a partial sum would look like a drop. */
function sum(rates: readonly (number | undefined)[]): number | null {
  let total = 0;
  for (const rate of rates) {
    if (rate === undefined) return null;
    total += rate;
  }
  return rates.length === 0 ? null : round(total);
}

/** A line of /proc/net/dev: the traffic of an interface since its creation. */
type InterfaceCounters = Pick<AgentInterface, Extract<keyof AgentInterface, `${string}_total`>>;

/** Parses /proc/net/dev (proc_pid_net(5)); there may be no space after the name: `eth0:123`. */
function parseNetDev(bytes: Buffer): Map<string, InterfaceCounters> {
  const interfaces = new Map<string, InterfaceCounters>();
  // The two header lines have no colon; every other line has one after the name.
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf('\n', start);
    const line = bytes.subarray(start, end === -1 ? bytes.length : end);
    const colon = line.indexOf(':');
    if (colon > 0) {
      const counters = readCounters(new Scanner(line, colon + 1));
      const name = line.toString('utf8', 0, colon).trim();
      if (!Number.isNaN(counters.transmit_drops_total)) interfaces.set(name, counters);
    }
    start = end === -1 ? bytes.length : end + 1;
  }
  return interfaces;
}

/** Bytes, packets, errors, drops; four columns that few drivers fill (fifo, frame, compressed, multicast); the same for sent. */
function readCounters(scanner: Scanner): InterfaceCounters {
  const next = (): number => scanner.readNumber();
  const [receivedBytes, receivedPackets] = [next(), next()];
  const [receiveErrors, receiveDrops] = [next(), next()];
  scanner.skipWords(4);
  return {
    receive_bytes_total: receivedBytes,
    transmit_bytes_total: next(),
    receive_packets_total: receivedPackets,
    transmit_packets_total: next(),
    receive_errors_total: receiveErrors,
    transmit_errors_total: next(),
    receive_drops_total: receiveDrops,
    transmit_drops_total: next(),
  };
}
