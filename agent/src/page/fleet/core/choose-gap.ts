import type { Diagnosis } from './diagnose-gap.ts';
import type { GapReason, MachineState } from './types.ts';

/** What a diagnosis finds of an agent that said itself why it left: nothing better. */
const VAGUE: ReadonlySet<GapReason> = new Set(['unreachable', 'no_answer', 'origin']);

/** What a page cannot change by trying again. */
const LASTING: ReadonlySet<GapReason> = new Set([
  'token',
  'certificate_required',
  'origin',
  'no_upgrade',
  'private_address',
]);

/** Whether a person must change something before a retry can succeed. */
export function isLastingGap(reason: GapReason): boolean {
  return LASTING.has(reason);
}

/**
 * Returns the state of a machine whose figures do not arrive. A gap keeps its start, and the agent's own reason is kept before a
 * vaguer one.
 * @param hasAnswered whether this page has seen the machine, so that its origin is allowed: what answers then is a proxy without its agent
 * @param since when messages were expected first; epoch milliseconds
 */
export function chooseGap(
  state: MachineState,
  { reason, detail }: Diagnosis,
  { hasAnswered, since }: { readonly hasAnswered: boolean; readonly since: number },
): MachineState {
  const isOwn = state.kind === 'gap' && (state.reason === 'stopped' || state.reason === 'refused');
  if (isOwn && VAGUE.has(reason)) return state;
  const known = reason === 'origin' && hasAnswered ? 'unreachable' : reason;
  if (state.kind === 'gap' && state.reason === known && state.detail === detail) return state;
  return {
    kind: 'gap',
    reason: known,
    since: state.kind === 'gap' ? state.since : since,
    ...(detail === undefined ? {} : { detail }),
  };
}
