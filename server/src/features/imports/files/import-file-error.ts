/** A file that cannot be imported; the message is a sentence for the operator. */
export class ImportFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImportFileError';
  }
}
