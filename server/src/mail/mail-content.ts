/** The content of a mail, independent of HTML and text. All texts are plain and are escaped when rendered. */
export interface MailContent {
  /** BCP 47, such as `en`. */
  readonly language: string;
  readonly subject: string;
  /** Shown by an inbox beside the subject. */
  readonly preview: string;
  readonly blocks: readonly MailBlock[];
  readonly footer: readonly (string | MailLink)[];
}

export interface MailLink {
  readonly text: string;
  /** `https://…` or `http://…`. */
  readonly url: string;
}

export type MailBlock =
  | { readonly kind: 'title' | 'heading' | 'paragraph'; readonly text: string }
  /** A text to copy, such as a license key, with a label above and a note below. */
  | {
      readonly kind: 'code';
      readonly label: string;
      readonly code: string;
      readonly note: string;
    }
  /** A numbered list, and an unordered one. */
  | { readonly kind: 'steps' | 'list'; readonly items: readonly string[] }
  /** The main link of the mail, and any other one. */
  | ({ readonly kind: 'button' | 'link' } & MailLink)
  /** One paragraph with line breaks, such as a closing and a name. */
  | { readonly kind: 'lines'; readonly lines: readonly string[] };
