/** What a mail says, before it is HTML or text. All texts are plain: what they hold is shown as it is. */
export interface MailContent {
  /** BCP 47, such as `en`. */
  readonly language: string;
  readonly subject: string;
  /** What an inbox shows beside the subject. */
  readonly preview: string;
  readonly blocks: readonly MailBlock[];
  /** Small print below. */
  readonly footer: readonly (string | MailLink)[];
}

/** A place on the web, and the words that lead there. */
export interface MailLink {
  readonly text: string;
  /** `https://…` or `http://…`. */
  readonly url: string;
}

/** One part of a mail. */
export type MailBlock =
  | { readonly kind: 'title' | 'heading' | 'paragraph'; readonly text: string }
  /** Something to be copied, with what it is for and a note below. */
  | {
      readonly kind: 'code';
      readonly label: string;
      readonly code: string;
      readonly note: string;
    }
  /** One after the other, numbered; or in no order. */
  | { readonly kind: 'steps' | 'list'; readonly items: readonly string[] }
  /** A place to go to: what the mail is about, or besides. */
  | ({ readonly kind: 'button' | 'link' } & MailLink)
  /** Each on a line of its own, such as a farewell and a name. */
  | { readonly kind: 'lines'; readonly lines: readonly string[] };
