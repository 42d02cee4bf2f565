import { countOf } from '#server/lib/text.ts';

import type { Diagnosis, DiagnosisFacts, Refusals } from './diagnosis.ts';
import { formatDay, timesOf } from './wording.ts';

/** Returns the diagnosis of refusals; null: their cause does not apply any more. */
type Explain = (facts: DiagnosisFacts, refused: Refusals) => Diagnosis | null;

/** The refusals of computers by a license that works. Those by its status ended with that status. */
const EXPLANATIONS: Readonly<Record<string, Explain>> = {
  activation_limit_reached: explainLimit,
  move_limit_reached: explainMoves,
  machine_mismatch: explainMismatch,
  activation_inactive: explainInactive,
  activation_not_found: explainUnknown,
};

/** Diagnoses the newest refusals of the week whose cause still applies; null: none. */
export function diagnoseRefusals(facts: DiagnosisFacts): Diagnosis | null {
  const newest = facts.refusals.toSorted((a, b) => b.lastAt.getTime() - a.lastAt.getTime());
  for (const refused of newest) {
    const diagnosis = EXPLANATIONS[refused.reason]?.(facts, refused) ?? null;
    if (diagnosis !== null) return diagnosis;
  }
  return null;
}

function explainLimit(facts: DiagnosisFacts, refused: Refusals): Diagnosis | null {
  const { license, machines } = facts;
  const { maxActivations: max } = license;
  if (machines.active < max) return null;
  const inUse =
    max === 1 ? 'The one computer of the license is in use' : `All ${max} computers are in use`;
  return problem('limit_reached', `${inUse}, and another one was refused`, facts, refused, {
    advice: 'Free a computer that is no longer used, or raise the limit.',
    actions: ['free_machine', 'change_limit'],
  });
}

function explainMoves(facts: DiagnosisFacts, refused: Refusals): Diagnosis | null {
  const { used, limit, days, extra } = facts.moves;
  if (used < limit || extra > 0) return null;
  const moved = `The license was used on ${countOf(used, 'different computer')} within ${days} days, which is its limit, and another one was refused`;
  return problem('move_limit_reached', moved, facts, refused, {
    advice: 'Allow another move if the customer really changed the computer.',
    actions: ['allow_moves'],
  });
}

/** A machine was activated or freed after the last refusal, which is what these refusals need. */
function isSettled({ machines }: DiagnosisFacts, { lastAt }: Refusals): boolean {
  return machines.changedAt !== null && machines.changedAt > lastAt;
}

function explainMismatch(facts: DiagnosisFacts, refused: Refusals): Diagnosis | null {
  if (isSettled(facts, refused)) return null;
  const sentence =
    'A computer that is not the activated one used its activation and was refused, for example a copied disk or new hardware';
  return problem('machine_mismatch', sentence, facts, refused, {
    advice:
      'Free the old computer; then the customer enters the key on the new one, which activates it.',
    actions: ['free_machine'],
  });
}

function explainInactive(facts: DiagnosisFacts, refused: Refusals): Diagnosis | null {
  if (isSettled(facts, refused)) return null;
  const sentence = 'A computer that was deactivated still runs the software and was refused';
  return problem('activation_inactive', sentence, facts, refused, {
    advice: 'The customer enters the key again on that computer, which activates it.',
    actions: ['resend'],
  });
}

function explainUnknown(facts: DiagnosisFacts, refused: Refusals): Diagnosis | null {
  if (isSettled(facts, refused)) return null;
  const sentence = 'A computer uses an activation that this license does not have and was refused';
  return problem('activation_not_found', sentence, facts, refused, {
    advice:
      'The software keeps data of another license: the customer signs out there, and enters this key.',
    actions: ['resend'],
  });
}

function problem(
  code: string,
  sentence: string,
  { now }: DiagnosisFacts,
  { refusals, lastAt }: Refusals,
  { advice, actions }: Pick<Diagnosis, 'advice' | 'actions'>,
): Diagnosis {
  const when = `${timesOf(refusals)} this week, last ${formatDay(lastAt, now)}`;
  return { code, level: 'problem', sentence: `${sentence} (${when}).`, advice, actions };
}
