import type { SessionKind } from '#server/config/database-url.ts';

/** What a host allows; `read-only`: a primary whose transactions are read-only by default. */
export type HostState = 'read-write' | 'read-only' | 'standby';

/** What a host reported. */
export interface HostStatus {
  readonly state: HostState;
  /** That of a primary, which each promotion increases; null: not read, or the server does not report it. */
  readonly timeline: number | null;
}

/** Whether a host is one of the kind, as `target_session_attrs` of libpq defines it. */
export function isOfKind(kind: SessionKind, state: HostState): boolean {
  switch (kind) {
    case 'any':
      return true;
    case 'read-write':
      return state === 'read-write';
    case 'read-only':
      return state !== 'read-write';
    case 'primary':
      return state !== 'standby';
    case 'standby':
    // The other hosts are the second choice.
    case 'prefer-standby':
      return state === 'standby';
  }
}

/** Whether all connections must lead to the same host: only one can be the primary. */
export function isExclusive(kind: SessionKind): boolean {
  return kind === 'read-write' || kind === 'primary';
}

const DESCRIPTIONS: Readonly<Record<HostState, string>> = {
  'read-write': 'is a primary',
  'read-only': 'is read-only',
  standby: 'is a standby',
};

/** Describes a host that is not used, after its name. */
export function describeState(state: HostState): string {
  return DESCRIPTIONS[state];
}
