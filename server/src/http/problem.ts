import type { Problem } from '@latchkey/contract';
import { errorCatalogue, errorDocumentationPath } from '@latchkey/contract/error-catalogue';
import type { PublicError } from '#server/errors.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Returns the problem details (RFC 9457) of an error as JSON. */
export function renderProblem(error: PublicError): string {
  const problem: Problem = {
    type: errorDocumentationPath(error.code),
    title: errorCatalogue[error.code].title,
    status: error.status,
    detail: error.detail,
    code: error.code,
    ...error.members,
  };
  return JSON.stringify(problem);
}
