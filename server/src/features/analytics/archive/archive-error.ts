/** An archive that cannot be read or written, with a sentence for the operator. */
export class ArchiveError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ArchiveError';
  }
}

/** A day that cannot be archived; other days can. */
export class DayError extends ArchiveError {}

/** A file whose events cannot be read, because its content is wrong. */
export class DamagedFileError extends DayError {}

/** A file that does not have the events of the database after it was written, so that the archive may be unreliable. */
export class UnverifiedFileError extends ArchiveError {}
