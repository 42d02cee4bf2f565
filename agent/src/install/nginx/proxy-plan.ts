import type { EditStep, FileStep } from '../steps.ts';

/** What the way through nginx depends on. */
export interface ProxyOptions {
  /** In lower case. */
  readonly domain: string;
  /** `/latchkey`: letters, digits, `.`, `_`, `~` and `-` between slashes, none at the end. */
  readonly proxyPath: string;
  readonly mutualTls: boolean;
  /** Where the agent listens on 127.0.0.1. */
  readonly agentPort: number;
  /** How many viewers the agent takes from one address. */
  readonly viewersPerAddress: number;
  /** nginx's own: `1.22.1`. */
  readonly version: string;
  readonly hasIpv6: boolean;
  /** Whether a certificate is to come by http-01 through this nginx, if the domain has no TLS yet. */
  readonly needsChallenge: boolean;
  /** What a server block of ours shows: the chain and its key. */
  readonly certificate: string;
  readonly certificateKey: string;
}

export type ProxyPlan = DedicatedPlan | ExistingPlan | ByHandPlan | RefusedPlan;

/** No block serves the domain with TLS. First the challenge, then a reload, the certificate, the server, a reload. */
export interface DedicatedPlan {
  readonly kind: 'dedicated';
  /** Counts the connections of each client; null where nginx loads no directory for it. */
  readonly limits: FileStep | null;
  readonly server: FileStep;
  readonly challenge: { readonly files: readonly FileStep[]; readonly edits: readonly EditStep[] };
  readonly notes: readonly string[];
}

/** The domain's own block gets one line. Where that is there already, no edit is left. */
export interface ExistingPlan {
  readonly kind: 'existing';
  /** Counts the connections of each client; null where nginx loads no directory for it. */
  readonly limits: FileStep | null;
  readonly route: FileStep;
  readonly edits: readonly EditStep[];
  readonly notes: readonly string[];
}

/** Somebody pasted the route: nothing is left to be written. */
export interface ByHandPlan {
  readonly kind: 'by-hand';
  readonly notes: readonly string[];
}

/** It cannot be told what would happen. */
export interface RefusedPlan {
  readonly kind: 'refused';
  /** One sentence. */
  readonly reason: string;
  /** What to paste, and where. */
  readonly instructions: string;
}
