import type { ClientProblem } from './problem.ts';
import { lastGroup } from './keys/license-key.ts';
import type { Session } from './session.ts';
import { formatTime } from './state/state.ts';
import { hashMachineId } from './tokens/verify.ts';

/** What support wants to know beside the state. */
export interface Circumstances {
  readonly service: string;
  readonly clientVersion: string;
  readonly platform: string;
  readonly eventsDropped: number;
  readonly problems: readonly ClientProblem[];
}

const MACHINE_CHARACTERS = 8;

/** Describes a client for support. The text contains no key, no token and no machine id. */
export async function explain(session: Session, around: Circumstances): Promise<string> {
  const { kept, state, parts } = session;
  const lines: (readonly [string, string | null])[] = [
    ['state', [state.kind, state.reason].filter(Boolean).join(', ')],
    ['until', state.until],
    ['tier', state.tier],
    ['features', state.features.join(', ')],
    ['key', kept.key && lastGroup(kept.key)],
    ['machine', await describeMachine(session)],
    ['last answer', state.lastAnswerAt ?? 'never'],
    ['last request', session.lastFailure ?? 'answered, or none'],
    ['refused', kept.refused && `${kept.refused.reason} at ${kept.refused.at}`],
    ['waiting', waitingOf(session)],
    ['time', formatTime(session.nowMs)],
    ['device clock', `${formatTime(parts.now())}${state.clockWentBack ? ' (was set back)' : ''}`],
    ['service', around.service],
    ['program', parts.versions.app_version],
    ['client', `@latchkey/client ${around.clientVersion}, ${around.platform}`],
    ['events dropped', String(around.eventsDropped)],
    ...around.problems.map(({ code, message }) => ['problem', `${code}: ${message}`] as const),
  ];
  return lines
    .filter(([, text]) => text !== null && text !== '')
    .map(([name, text]) => `${name}: ${text}\n`)
    .join('');
}

async function describeMachine({ machine, parts }: Session): Promise<string> {
  try {
    const hash = await hashMachineId(machine.machine_id, parts.cryptography);
    return `${hash.slice(0, MACHINE_CHARACTERS)} (SHA-256)`;
  } catch {
    // A page that is not from https has no SHA-256; support needs the other lines even more.
    return 'cannot be hashed';
  }
}

function waitingOf({ kept }: Session): string {
  return [
    kept.release === null ? '' : 'to be freed',
    kept.trialWanted ? 'trial to be started' : '',
    kept.request === null ? '' : 'request without a connection',
  ]
    .filter((each) => each !== '')
    .join(', ');
}
