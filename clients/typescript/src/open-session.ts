import { OK, type Result } from './answers/results.ts';
import { createService, isTrustworthy } from './calls/service.ts';
import type { Events } from './events/tracker.ts';
import { randomUuid } from './events/uuid.ts';
import { memoryStore } from './kept/store.ts';
import { chooseFingerprint } from './machine/choose-fingerprint.ts';
import { generateFingerprint, type Fingerprint } from './machine/fingerprint.ts';
import { browserNetwork, type Network } from './network.ts';
import { checkOptions, type Options } from './options.ts';
import type { ClientProblem, ReportProblem } from './problem.ts';
import { Session } from './session.ts';
import { webCryptography } from './tokens/cryptography.ts';

/** An open client, before anything is asked. */
export interface Opened {
  readonly session: Session;
  readonly events: Events | null;
  readonly network: Network;
  readonly service: string;
  readonly platform: string;
  /** The last problems, for support. */
  readonly problems: readonly ClientProblem[];
  /** Reads the machine again, if its kept identity was used; null: nothing to do. */
  readonly refreshMachine: ((session: Session) => Promise<Result>) | null;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const KEPT_PROBLEMS = 5;

/** Opens a session. @throws TypeError when an option is wrong */
export async function openSession(options: Options): Promise<Opened> {
  checkOptions(options);
  const { network = browserNetwork, platform = 'browser' } = options;
  const problems: ClientProblem[] = [];
  const service = options.service.replace(/(?<!\/)\/+$/, '');
  const session = createSession(options, service, collect(problems, options.onProblem));
  await session.load();
  const { events = null } = options;
  const refreshMachine = await identify(session, options.machine);
  return { session, events, network, service, platform, problems, refreshMachine };
}

function createSession(options: Options, service: string, report: ReportProblem): Session {
  const { appVersion, osVersion } = options;
  const {
    fetch = globalThis.fetch.bind(globalThis),
    timeoutMs = DEFAULT_TIMEOUT_MS,
    now = Date.now,
  } = options;
  return new Session({
    service: createService({ fetch, service, timeoutMs }),
    store: options.store ?? memoryStore(),
    cryptography: options.cryptography ?? webCryptography,
    now,
    report,
    issuer: options.issuer,
    products: options.products,
    publicKeys: options.publicKeys,
    canFetchKeys: isTrustworthy(service),
    versions: {
      app_version: appVersion,
      ...(osVersion === undefined ? {} : { os_version: osVersion }),
    },
  });
}

function collect(problems: ClientProblem[], onProblem: Options['onProblem']): ReportProblem {
  return (problem) => {
    problems.push(problem);
    if (problems.length > KEPT_PROBLEMS) problems.shift();
    try {
      onProblem?.(problem);
    } catch {
      // The function of the program fails; a client throws nothing into it.
    }
  };
}

/**
 * Sets the machine of a session: the one that was passed; or the kept one, so that the program does not wait, and reads it again
 * later; or the one that is read now.
 */
async function identify(
  session: Session,
  machine: Options['machine'],
): Promise<Opened['refreshMachine']> {
  const read = async (): Promise<Fingerprint | null> => {
    try {
      return typeof machine === 'function' ? await machine() : (machine ?? null);
    } catch {
      // The same as an empty reading.
      return null;
    }
  };
  const adopt = async (): Promise<Result> => {
    const reading = await read();
    if (reading === null && machine !== undefined) {
      const message = 'could not read the identity of the machine';
      session.parts.report({ code: 'machine_unreadable', message });
    }
    const chosen = chooseFingerprint(session.kept, reading) ?? generateFingerprint(randomUuid());
    if (chosen !== session.kept.machine) await session.change({ machine: chosen });
    return OK;
  };
  if (typeof machine === 'function' && session.kept.machine !== null) return adopt;
  await adopt();
  return null;
}
