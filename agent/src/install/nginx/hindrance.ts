/** Why something is not done, for the one who then does it by hand. */
export interface Hindrance {
  /** One sentence, with the place. */
  readonly reason: string;
  /** What must be minded beside pasting the text; null when that is all. */
  readonly advice: string | null;
}
