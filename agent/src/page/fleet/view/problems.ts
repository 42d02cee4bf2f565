import type { AgentNotice } from '@latchkey/contract';

import { formatTime } from '../../browser/format.ts';
import { describeNotice } from '../../browser/notices.ts';
import type { Gap, GapReason, Machine, MachineState } from '../core/types.ts';

/** Something that needs attention: a notice of the agent, or the reason why no figures arrive. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  /** A sentence; after the name of the machine if it is a gap: `has not answered since 14:03:22.` */
  readonly sentence: string;
  readonly isGap: boolean;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** What a person can do about a gap on the page. */
export type Remedy = 'token' | 'open' | 'retry' | 'none';

interface GapRule {
  /** `warning`: the machine may be fine, but something is not set up. */
  readonly severity: Problem['severity'];
  readonly remedy: Remedy;
  readonly describe: (time: string, origin: string) => string;
}

const GAP_RULES: Readonly<Record<GapReason, GapRule>> = {
  no_answer: {
    severity: 'error',
    remedy: 'retry',
    describe: (time) => `has not answered since ${time}.`,
  },
  unreachable: {
    severity: 'error',
    remedy: 'open',
    describe: (time) =>
      `cannot be reached since ${time}, or this browser does not trust its certificate.`,
  },
  stopped: {
    severity: 'error',
    remedy: 'retry',
    describe: (time) => `stopped its agent at ${time}.`,
  },
  refused: {
    severity: 'error',
    remedy: 'retry',
    describe: (time) => `closed the connection at ${time}.`,
  },
  token: {
    severity: 'warning',
    remedy: 'token',
    describe: () => 'does not accept the token: enter it.',
  },
  certificate_required: {
    severity: 'warning',
    remedy: 'open',
    describe: () => 'requires a client certificate: open this machine once, and choose it.',
  },
  origin: {
    severity: 'warning',
    remedy: 'retry',
    describe: (_, origin) =>
      `does not allow this page: run “latchkey-agent origins add ${origin}” on it.`,
  },
  no_upgrade: {
    severity: 'warning',
    remedy: 'retry',
    describe: () => 'is behind a proxy that does not forward WebSockets (Upgrade).',
  },
  private_address: {
    severity: 'warning',
    remedy: 'open',
    describe: () =>
      'has a private address: allow this page to reach your local network, or open this machine once.',
  },
};

/** What the agent's own sentence adds. */
const DETAILED_GAPS: Readonly<Partial<Record<GapReason, (detail: string) => string>>> = {
  refused: (detail) => `closed the connection: ${detail}`,
  unreachable: (detail) => `cannot be reached: ${detail}`,
  // Before the first token, the agent answers that one is needed.
  token: (detail) =>
    /not known/u.test(detail)
      ? 'does not accept the token: enter it.'
      : 'needs an access token: enter it.',
};

/** Lists the problems of a machine: the gap, then errors, then warnings, the oldest first. */
export function listProblems(
  { state, notices }: Pick<Machine, 'state' | 'notices'>,
  { nowMs, origin }: ProblemContext,
): Problem[] {
  const found = (notices ?? []).map(toProblem).sort(compareProblems);
  return state.kind === 'gap' ? [describeGapProblem(state, nowMs, origin), ...found] : found;
}

/** What sentences depend on, apart from the machine. */
export interface ProblemContext {
  readonly nowMs: number;
  /** The origin of this page, which an agent must allow. */
  readonly origin: string;
}

function describeGapProblem(gap: Gap, nowMs: number, origin: string): Problem {
  const { severity } = GAP_RULES[gap.reason];
  return { severity, sentence: describeGap(gap, nowMs, origin), isGap: true, since: gap.since };
}

/** Describes a gap; the sentence follows the name of the machine. */
export function describeGap({ reason, since, detail }: Gap, nowMs: number, origin: string): string {
  const withDetail = detail === undefined ? undefined : DETAILED_GAPS[reason];
  if (detail !== undefined && withDetail !== undefined) return withDetail(detail);
  return GAP_RULES[reason].describe(formatMoment(since, nowMs), origin);
}

/** Returns what a person can do about the state of a machine. */
export function findRemedy(state: MachineState): Remedy {
  return state.kind === 'gap' ? GAP_RULES[state.reason].remedy : 'none';
}

function toProblem(notice: AgentNotice): Problem {
  const since = Date.parse(notice.since);
  return { severity: notice.severity, sentence: describeNotice(notice), isGap: false, since };
}

const RANKS: Readonly<Record<Problem['severity'], number>> = { error: 0, warning: 1 };

function compareProblems(a: Problem, b: Problem): number {
  return RANKS[a.severity] - RANKS[b.severity] || a.since - b.since;
}

/** A machine with its problems, the worst first. */
export interface TroubledMachine {
  readonly machine: Machine;
  readonly problems: readonly Problem[];
}

/** Orders machines by their worst problem, and then by how long it lasts. */
export function compareTroubled(a: TroubledMachine, b: TroubledMachine): number {
  const [worstA, worstB] = [findWorst(a.problems), findWorst(b.problems)];
  if (worstA === undefined || worstB === undefined) return 0;
  return compareProblems(worstA, worstB);
}

function findWorst(problems: readonly Problem[]): Problem | undefined {
  return [...problems].sort(compareProblems)[0];
}

/** Whether a machine is calm, has problems, or has not answered yet. */
export type Condition = 'calm' | 'problem' | 'unknown';

/** Returns the condition of a machine. A machine that waits for its turn keeps that of its last figures. */
export function judgeMachine({
  state,
  notices,
  latestAt,
}: Pick<Machine, 'state' | 'notices' | 'latestAt'>): Condition {
  if (state.kind === 'gap' || (notices !== null && notices.length > 0)) return 'problem';
  return latestAt === null ? 'unknown' : 'calm';
}

/** From here on, the time of day alone would be ambiguous. */
const HALF_DAY_MS = 43_200_000;

/** Formats a time as `14:03:22`, an earlier one with its day. */
export function formatMoment(atMs: number, nowMs: number): string {
  const time = formatTime(atMs / 1000, true);
  if (nowMs - atMs < HALF_DAY_MS) return time;
  const at = new Date(atMs);
  return `${at.getDate()} ${MONTHS[at.getMonth()] ?? ''} ${time.slice(0, 5)}`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Writes a sentence with a capital first letter. */
export function capitalize(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
