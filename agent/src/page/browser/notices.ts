import type { AgentNoticeCode } from '@latchkey/contract';

import { formatCelsius, formatPercent } from './format.ts';
import type { Notice } from '../../notices.ts';

/** The values of a problem; a page never shows one that its code does not have. */
type NoticeValues = Required<Pick<Notice, 'celsius' | 'count' | 'ratio' | 'subject'>>;

const SENTENCES: Readonly<Record<AgentNoticeCode, (values: NoticeValues) => string>> = {
  unit_failed: ({ subject, count }) =>
    count === 1 ? `The unit ${subject} failed.` : `${count} units failed.`,
  disk_failing: ({ subject }) => `The disk ${subject} is failing.`,
  disk_prefail: ({ subject }) => `The disk ${subject} is about to fail.`,
  disk_self_test_failed: ({ subject }) => `The disk ${subject} failed its self-test.`,
  disk_worn: ({ subject, ratio }) => `The disk ${subject} is worn ${formatPercent(ratio)}.`,
  filesystem_stale: ({ subject }) => `${subject} does not answer.`,
  filesystem_full: ({ subject, ratio }) => `${subject} is ${formatPercent(ratio)} full.`,
  temperature_high: ({ subject, celsius }) => `${subject} is at ${formatCelsius(celsius)}.`,
  under_voltage: () => 'The power supply is too weak.',
  throttled: () => 'The processor is throttled.',
  battery_low: ({ subject, ratio }) => `${subject} is at ${formatPercent(ratio)}.`,
};

/** Describes a problem in a sentence. */
export function describeNotice(notice: Notice): string {
  const { subject = '', count = 1, ratio = 0, celsius = 0 } = notice;
  return SENTENCES[notice.code]({ subject, count, ratio, celsius });
}
