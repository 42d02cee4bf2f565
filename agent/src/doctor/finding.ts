/** What the doctor looks into. Where a check is about a line of the installation guide's table of errors, it has its name. */
export type CheckName =
  | 'agent_reachable'
  | 'agent_running'
  | 'bind_address'
  | 'certificate'
  | 'clock'
  | 'configuration'
  | 'domain'
  | 'firewall'
  | 'ports'
  | 'proxy_certificates'
  | 'proxy_health'
  | 'proxy_route'
  | 'renewal'
  | 'revocations'
  | 'selinux'
  | 'server_names'
  | 'viewers';

/** What a check has found. */
export type Finding = Fine | Fault;

export interface Fine {
  readonly check: CheckName;
  readonly state: 'ok' | 'skipped';
  /** A sentence. */
  readonly says: string;
}

export interface Fault {
  readonly check: CheckName;
  /** With a problem nobody, or not everybody, can watch; a warning becomes one if nothing is done. */
  readonly state: 'problem' | 'warning';
  /** What somebody sees. */
  readonly symptom: string;
  readonly cause: string;
  /** What to do, with the commands to paste. */
  readonly fix: string;
}

/** A check that found nothing wrong. */
export function ok(check: CheckName, says: string): Fine {
  return { check, state: 'ok', says };
}

/** A check that could not be made, or has nothing to check. */
export function skipped(check: CheckName, says: string): Fine {
  return { check, state: 'skipped', says };
}

type What = Pick<Fault, 'cause' | 'fix' | 'symptom'>;

export function problem(check: CheckName, what: What): Fault {
  return { check, state: 'problem', ...what };
}

export function warning(check: CheckName, what: What): Fault {
  return { check, state: 'warning', ...what };
}
