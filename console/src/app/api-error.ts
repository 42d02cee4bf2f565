import type { Problem, ValidationError } from '@latchkey/contract';

/** One error of a field. */
export interface FieldError {
  /** The name of the field, such as `email`; '' for the whole request. */
  readonly field: string;
  readonly message: string;
}

/** A failed request to the operator interface. */
export class ApiError extends Error {
  /** The stable code of a problem; `unreachable`, `invalid_request` or `unknown` where there is none. */
  readonly code: string;
  /** 0: no answer. */
  readonly status: number;
  readonly fields: readonly FieldError[];
  /** The current state of the resource, sent with the code `conflict`. */
  readonly current: unknown;
  readonly retryAfterSeconds: number | null;

  constructor(
    code: string,
    status: number,
    message: string,
    details: {
      readonly fields?: readonly FieldError[];
      readonly current?: unknown;
      readonly retryAfterSeconds?: number | null;
    } = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.status = status;
    this.fields = details.fields ?? [];
    this.current = details.current;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }

  /** Whether the same request may succeed soon without any change. */
  get isTemporary(): boolean {
    return this.code === 'unreachable' || [502, 503, 504].includes(this.status);
  }
}

/** The error of a request without an answer. */
export function unreachable(): ApiError {
  return new ApiError('unreachable', 0, 'The service does not answer. Try again in a moment.');
}

/** Converts an answer that is not 2xx. */
export function readApiError(status: number, body: unknown, retryAfter: string | null): ApiError {
  const retryAfterSeconds = retryAfter === null ? null : Number(retryAfter) || null;
  if (isProblem(body)) {
    const details = { current: body['current'], retryAfterSeconds };
    return new ApiError(body.code, status, body.detail, details);
  }
  if (hasFieldErrors(body)) {
    const fields = body.detail.map(toFieldError);
    const message = fields.map(({ field, message: text }) => `${field}: ${text}`).join(' ');
    return new ApiError('invalid_request', status, message, { fields });
  }
  const isTemporary = [502, 503, 504].includes(status);
  // A proxy answers for a service that is being restarted.
  if (isTemporary) return new ApiError('unreachable', status, unreachable().message);
  return new ApiError('unknown', status, `The service answered with status ${status}.`);
}

function toFieldError({ loc, msg }: ValidationError): FieldError {
  return { field: loc.slice(1).join('.'), message: msg };
}

function isProblem(body: unknown): body is Problem & Record<string, unknown> {
  return isObject(body) && typeof body['code'] === 'string' && typeof body['detail'] === 'string';
}

function hasFieldErrors(body: unknown): body is { readonly detail: readonly ValidationError[] } {
  return (
    isObject(body) &&
    Array.isArray(body['detail']) &&
    body['detail'].every((each: unknown) => isObject(each) && Array.isArray(each['loc']))
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
