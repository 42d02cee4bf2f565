/** The authority cannot do what it was asked for. The message is a sentence for the person at the terminal. */
export class AuthorityError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AuthorityError';
  }
}

const NOT_ALLOWED = new Set(['EACCES', 'EPERM']);

/** Turns an error of the system about a file that is for root only into a sentence; others stay as they are. */
export function explainFileError(error: unknown): unknown {
  if (!NOT_ALLOWED.has(codeOf(error))) return error;
  return new AuthorityError('Only root may use the authority: run this with sudo.', {
    cause: error,
  });
}

/** The system's name of an error, such as `ENOENT`; empty when it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
