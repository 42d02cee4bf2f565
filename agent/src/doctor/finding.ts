/** The checks of the doctor. Those of the installation guide's table of errors have its names. */
export type CheckName =
  | 'agent_reachable'
  | 'agent_running'
  | 'bind_address'
  | 'certificate'
  | 'clock'
  | 'configuration'
  | 'domain'
  | 'firewall'
  | 'origins'
  | 'ports'
  | 'proxy_certificates'
  | 'proxy_health'
  | 'proxy_route'
  | 'renewal'
  | 'revocations'
  | 'selinux'
  | 'server_names'
  | 'viewers';

export type Finding = Passed | Fault;

export interface Passed {
  readonly check: CheckName;
  readonly state: 'ok' | 'skipped';
  /** The result in a sentence. */
  readonly message: string;
}

export interface Fault {
  readonly check: CheckName;
  /** With a problem some viewers cannot connect; a warning becomes a problem if nothing is done. */
  readonly state: 'problem' | 'warning';
  /** What viewers or the administrator notice. */
  readonly symptom: string;
  readonly cause: string;
  /** What to do, with the commands to paste. */
  readonly fix: string;
}

/** Reports a check without a problem. */
export function ok(check: CheckName, message: string): Passed {
  return { check, state: 'ok', message };
}

/** Reports a check that could not be made, or does not apply. */
export function skipped(check: CheckName, message: string): Passed {
  return { check, state: 'skipped', message };
}

type FaultDetails = Pick<Fault, 'cause' | 'fix' | 'symptom'>;

export function problem(check: CheckName, details: FaultDetails): Fault {
  return { check, state: 'problem', ...details };
}

export function warning(check: CheckName, details: FaultDetails): Fault {
  return { check, state: 'warning', ...details };
}
