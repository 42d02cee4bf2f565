/** A file of the release. */
export interface ReleaseFile {
  readonly name: string;
  readonly content: Buffer;
}
