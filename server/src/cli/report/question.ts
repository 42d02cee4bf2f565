import type { Option } from 'commander';

import type { Queryable } from '#server/db/statement.ts';
import type { DayRange } from '#server/features/analytics/rules/days.ts';

import type { Answer } from './view.ts';

/** The options of a question besides the days. */
export interface QuestionOptions {
  readonly by?: string;
  readonly name?: string;
  readonly key?: string;
}

/** Something that can be asked of usage and events. */
export interface Question {
  readonly name: string;
  readonly description: string;
  /** How many days are looked at when none are named. */
  readonly defaultDays: number;
  readonly options: readonly Option[];
  readonly examples: readonly (readonly [string, string])[];
  readonly ask: (
    db: Queryable,
    range: DayRange,
    options: QuestionOptions,
    now: Date,
  ) => Promise<Answer>;
}

/** How many days most questions look at. */
export const MONTH_DAYS = 30;
/** How many days the questions by week look at: twelve weeks. */
export const QUARTER_DAYS = 84;
