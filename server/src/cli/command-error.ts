import { StartupError } from '#server/config/startup-error.ts';
import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import { ApiKeyError } from '#server/features/api-keys/manage.ts';
import { LicenseChangeError } from '#server/features/licenses/change-license.ts';
import { EndpointError } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import { PublicError } from '#server/errors.ts';
import { messageOf } from '#server/lib/error-message.ts';

/** The command line was not understood. */
export const USAGE_EXIT_CODE = 2;

/** Ends a command with one clear sentence and an exit code. */
class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}

/** The arguments do not make sense together (exit code 2). */
export function usageError(message: string): CommandError {
  return new CommandError(message, USAGE_EXIT_CODE);
}

/** The command was understood and could not be done (exit code 1). */
export function failed(message: string, options?: ErrorOptions): CommandError {
  return new CommandError(message, 1, options);
}

/** What to say about an error, one sentence per line, and the exit code that it means. */
export function explainError(error: unknown): { lines: readonly string[]; exitCode: number } {
  if (error instanceof StartupError) return { lines: error.problems, exitCode: error.exitCode };
  if (error instanceof CommandError) return { lines: [error.message], exitCode: error.exitCode };
  if (error instanceof PublicError) return { lines: [error.detail], exitCode: 1 };
  if (error instanceof ApiKeyError) return { lines: [error.message], exitCode: 1 };
  if (error instanceof EndpointError) return { lines: [error.message], exitCode: 1 };
  if (error instanceof LicenseChangeError) return { lines: [error.message], exitCode: 1 };
  if (isDatabaseUnavailable(error)) {
    const line = `The database cannot be reached (${messageOf(error)}); latchkey doctor looks for the cause.`;
    return { lines: [line], exitCode: 1 };
  }
  return {
    lines: [`This went wrong: ${messageOf(error)} (LATCHKEY_LOG_LEVEL=debug shows where).`],
    exitCode: 1,
  };
}
