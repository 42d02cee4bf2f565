import type { Plan } from './plan.ts';

/** The part of a plan that depends on its mode. */
export interface Draft extends Pick<Plan, 'notes' | 'objections' | 'steps'> {
  readonly kind: 'draft';
}
