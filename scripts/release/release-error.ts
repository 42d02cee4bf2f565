/** Why a release cannot be built, for the person who builds it: a sentence for each problem, with its fix. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}
