/** Renders states and results with the names of the protocol. */
import type { Machine, LicenseState } from '../src/index.ts';
import type { Failure } from '../src/answers/results.ts';

export function renderState(state: LicenseState): object {
  return {
    may_run: state.mayRun,
    kind: state.kind,
    reason: state.reason,
    tier: state.tier,
    features: state.features,
    until: state.until,
    days_left: state.daysLeft,
    source: state.source,
    last_answer_at: state.lastAnswerAt,
    clock_went_back: state.clockWentBack,
  };
}

/** Renders the result of a call with its content. */
export function renderResult<Content extends object>(
  result: ({ readonly ok: true } & Content) | Failure,
  content: (result: Content) => object = () => ({}),
): object {
  return result.ok ? { ok: true, ...content(result) } : renderFailure(result);
}

function renderFailure(failure: Failure): object {
  if (failure.cause !== undefined) {
    return { ok: false, code: failure.code, cause: failure.cause };
  }
  const { code, max, current, availableAt } = failure;
  return {
    ok: false,
    code,
    ...(max === undefined ? {} : { max }),
    ...(current === undefined ? {} : { current }),
    ...(availableAt === undefined ? {} : { available_at: availableAt }),
  };
}

export function renderMachine({ activationId, isActive, isThis }: Machine): object {
  return { activation_id: activationId, is_active: isActive, is_this: isThis };
}
