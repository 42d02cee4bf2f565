/** The machines of the fleet that tests and `npm run demo:fleet` show: which agents run where, and what is wrong with some. */
import type { ListedMachine } from '#agent/page/fleet/core/types.ts';

/** What answers at an address. */
export type AgentKind =
  /** An agent. */
  | 'agent'
  /** A program that accepts connections and never answers. */
  | 'silent'
  /** A program that accepts the WebSocket and never sends a message. */
  | 'mute'
  /** An agent behind a proxy that does not forward `Upgrade`. */
  | 'no_upgrade'
  /** Nothing. */
  | 'absent';

/** The certificate of an agent, and what it asks of viewers. */
export type AgentTls = 'trusted' | 'untrusted' | 'mutual';

/** A present problem of a machine. */
export type Problem = 'full' | 'unit' | 'hot' | 'stale' | 'disk';

/** One agent of the fleet. */
export interface AgentPlan {
  readonly id: string;
  /** A loopback address. */
  readonly host: string;
  readonly port: number;
  readonly labels: readonly string[];
  /** Shifts the figures, so that no two machines show the same. */
  readonly seed: number;
  readonly kind: AgentKind;
  readonly tls: AgentTls;
  /** The only access token; null: none is needed. */
  readonly token: string | null;
  /** Whether pages of other agents may watch. */
  readonly allowsPages: boolean;
  readonly problem: Problem | null;
  /** Whether the agent has a process of its own, which can be frozen. */
  readonly isAlone: boolean;
}

/** The machines with a part of their own; the others are calm. */
export const CAST = {
  silent: 'batch-20',
  mute: 'batch-24',
  untrusted: 'web-25',
  origin: 'db-26',
  noUpgrade: 'web-29',
  mutual: 'cache-31',
  absent: 'cache-35',
  frozen: 'db-10',
  token: 'db-14',
  rebooted: 'web-13',
  stopped: 'cache-15',
  restarted: 'batch-16',
} as const;

const SPECIAL: Readonly<Record<string, Partial<AgentPlan>>> = {
  [CAST.silent]: { kind: 'silent' },
  [CAST.mute]: { kind: 'mute' },
  [CAST.untrusted]: { tls: 'untrusted' },
  [CAST.origin]: { allowsPages: false },
  [CAST.noUpgrade]: { kind: 'no_upgrade' },
  [CAST.mutual]: { tls: 'mutual' },
  [CAST.absent]: { kind: 'absent' },
  [CAST.frozen]: { isAlone: true },
  [CAST.token]: { token: 'a-token-of-the-demonstration' },
  'web-5': { problem: 'full' },
  'db-6': { problem: 'disk' },
  'cache-7': { problem: 'hot' },
  'batch-8': { problem: 'unit' },
  'db-18': { problem: 'stale' },
};

const ROLES = ['batch', 'web', 'db', 'cache'] as const;
const SITES = ['berlin', 'oslo', 'lisbon'] as const;

/** How a fleet is planned. */
export interface PlanOptions {
  readonly count: number;
  readonly port: number;
  /** Whether some machines are at fault; false: all are well, for measurements. */
  readonly withFaults: boolean;
}

/** Plans a fleet on 127.0.1.1 and the following addresses. The same options return the same fleet. */
export function planFleet({ count, port, withFaults }: PlanOptions): AgentPlan[] {
  return Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const role = ROLES[number % ROLES.length] ?? 'db';
    const id = `${role}-${number}`;
    return {
      id,
      host: `127.0.${1 + Math.floor(index / 250)}.${1 + (index % 250)}`,
      port,
      labels: [role, SITES[number % SITES.length] ?? 'oslo'],
      seed: number,
      kind: 'agent',
      tls: 'trusted',
      token: null,
      allowsPages: true,
      problem: null,
      isAlone: false,
      ...(withFaults ? SPECIAL[id] : {}),
    };
  });
}

/** Returns the list that a page of the fleet watches. */
export function listMachines(plans: readonly AgentPlan[]): ListedMachine[] {
  return plans.map(({ id, host, port, labels }) => {
    const address = `${host}:${port}`;
    return { id: address, name: id, address, labels };
  });
}
