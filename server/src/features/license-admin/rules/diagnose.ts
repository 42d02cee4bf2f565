import { countOf } from '#server/lib/text.ts';

import { diagnoseMachines } from './diagnose-machines.ts';
import { diagnoseRefusals } from './diagnose-refusals.ts';
import { diagnoseStatus, noticeOfStatus } from './diagnose-status.ts';
import type { Diagnosis, DiagnosisFacts } from './diagnosis.ts';
import { formatDay } from './wording.ts';

/**
 * Answers why a license does not work on a customer's computer, in the order in which a computer meets the causes: the
 * license itself, then what the service refused, then computers that did not reach it.
 */
export function diagnose(facts: DiagnosisFacts): Diagnosis {
  return (
    diagnoseStatus(facts) ??
    diagnoseRefusals(facts) ??
    diagnoseMachines(facts) ??
    noticeOfStatus(facts) ??
    describeFull(facts) ??
    describeWorking(facts)
  );
}

function describeFull({ license, machines }: DiagnosisFacts): Diagnosis | null {
  const { maxActivations: max } = license;
  if (machines.active < max) return null;
  return {
    code: 'limit_full',
    level: 'ok',
    sentence:
      max === 1
        ? 'The license works on its computer; a second computer would be refused.'
        : `The license works on its ${max} computers; another computer would be refused.`,
    advice: 'If the customer has a new computer, free an old one or raise the limit.',
    actions: ['free_machine', 'change_limit'],
  };
}

function describeWorking({ license, machines, now, refusals }: DiagnosisFacts): Diagnosis {
  const { active, lastSeenAt } = machines;
  const seen = lastSeenAt === null ? '' : `, last seen ${formatDay(lastSeenAt, now)}`;
  const refused = refusals.length === 0 ? 'nothing was' : 'what was';
  const settled = refusals.length === 0 ? '' : ' is settled';
  return {
    code: 'works',
    level: 'ok',
    sentence: `The license works on ${active} of ${countOf(license.maxActivations, 'computer')}${seen}; ${refused} refused this week${settled}.`,
    advice:
      'If it still fails on a computer, that computer uses another key or does not reach the service: ask for the message that the software shows.',
    actions: [],
  };
}
