import type { Plan } from './plan.ts';

/** The part of a plan that depends on its mode. */
export interface Draft extends Pick<Plan, 'notes' | 'objections' | 'steps'> {
  /** None where this program does all of it. */
  readonly handwork?: Plan['handwork'];
  readonly kind: 'draft';
}
