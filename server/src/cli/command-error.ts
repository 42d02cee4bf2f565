import { StartupError } from '#server/config/startup-error.ts';
import { BackupError } from '#server/db/backup/backup-error.ts';
import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import { ArchiveError } from '#server/features/analytics/archive/archive-error.ts';
import { LicenseChangeError } from '#server/features/licenses/change-license.ts';
import { InvalidRequestError, PublicError } from '#server/errors.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

/** Exit code of a command line that is not valid. */
export const USAGE_EXIT_CODE = 2;

/** An error that ends a command with a message and an exit code. */
class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}

/** Returns the error for arguments that do not go together (exit code 2). */
export function usageError(message: string): CommandError {
  return new CommandError(message, USAGE_EXIT_CODE);
}

/** Returns the error for a command that failed (exit code 1). */
export function failed(message: string, options?: ErrorOptions): CommandError {
  return new CommandError(message, 1, options);
}

/** The messages of an error, one for each line, and its exit code. */
export function explainError(error: unknown): { lines: readonly string[]; exitCode: number } {
  if (error instanceof StartupError) return { lines: error.problems, exitCode: error.exitCode };
  if (error instanceof CommandError) return { lines: [error.message], exitCode: error.exitCode };
  if (error instanceof PublicError) return { lines: [error.detail], exitCode: 1 };
  if (error instanceof InvalidRequestError) {
    return { lines: error.items.map(({ msg }) => `${msg}.`), exitCode: 1 };
  }
  if (error instanceof LicenseChangeError) return { lines: [error.message], exitCode: 1 };
  if (error instanceof BackupError) return { lines: [error.message], exitCode: 1 };
  if (error instanceof ArchiveError) return { lines: [error.message], exitCode: 1 };
  if (isDatabaseUnavailable(error)) {
    const line = `Cannot reach the database (${messageOf(error)}). Run latchkey doctor to find the cause.`;
    return { lines: [line], exitCode: 1 };
  }
  return {
    lines: [
      `Unexpected error: ${messageOf(error)}. Set LATCHKEY_LOG_LEVEL=debug to print its stack.`,
    ],
    exitCode: 1,
  };
}
