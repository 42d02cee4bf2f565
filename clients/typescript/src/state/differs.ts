import type { LicenseState } from './state.ts';

/** Whether a program that shows the state must show it again; the time of the last answer alone is no change. */
export function differs(one: LicenseState, other: LicenseState): boolean {
  return render(one) !== render(other);
}

function render({ lastAnswerAt: _at, source: _source, ...shown }: LicenseState): string {
  return JSON.stringify(shown);
}
