import { Scanner } from './scanner.ts';

/** A line of /proc/net/dev: what went through an interface since it was made. */
export interface InterfaceCounters {
  readonly receiveBytes: number;
  readonly receivePackets: number;
  readonly receiveErrors: number;
  readonly receiveDrops: number;
  readonly transmitBytes: number;
  readonly transmitPackets: number;
  readonly transmitErrors: number;
  readonly transmitDrops: number;
}

/** Reads /proc/net/dev (proc_pid_net(5)), in which the name may stand against the first number: `eth0:123`. */
export function parseNetDev(bytes: Buffer): Map<string, InterfaceCounters> {
  const interfaces = new Map<string, InterfaceCounters>();
  // Two lines of headings hold no colon; every other line has one after the name.
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf('\n', start);
    const line = bytes.subarray(start, end === -1 ? bytes.length : end);
    const colon = line.indexOf(':');
    if (colon > 0) {
      const counters = readCounters(new Scanner(line, colon + 1));
      const name = line.toString('utf8', 0, colon).trim();
      if (!Number.isNaN(counters.transmitDrops)) interfaces.set(name, counters);
    }
    start = end === -1 ? bytes.length : end + 1;
  }
  return interfaces;
}

/** Bytes, packets, errors, drops; four that few drivers fill (fifo, frame, compressed, multicast); and again for sent. */
function readCounters(scanner: Scanner): InterfaceCounters {
  const next = (): number => scanner.readNumber();
  const [receiveBytes, receivePackets, receiveErrors, receiveDrops] = [
    next(),
    next(),
    next(),
    next(),
  ];
  scanner.skipWords(4);
  const [transmitBytes, transmitPackets, transmitErrors, transmitDrops] = [
    next(),
    next(),
    next(),
    next(),
  ];
  return {
    receiveBytes,
    receivePackets,
    receiveErrors,
    receiveDrops,
    transmitBytes,
    transmitPackets,
    transmitErrors,
    transmitDrops,
  };
}
