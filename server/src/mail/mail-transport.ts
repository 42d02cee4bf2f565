/** A message to one person. */
export interface MailMessage {
  readonly to: { readonly address: string; readonly name: string | null };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The part of the Message-ID left of the `@`; it stays the same when a message is sent again, so that this shows. */
  readonly messageToken: string;
  /** In addition to those of every message. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What became of a message. */
export type SendResult =
  | { readonly outcome: 'sent'; readonly messageId: string }
  /**
   * `temporary`: it may succeed later. `lasting`: never for this message and address. `unknown`: the relay has all of it
   * and did not say whether it takes it, so that sending again may bring it twice.
   */
  | {
      readonly outcome: 'temporary' | 'lasting' | 'unknown';
      /** Short and stable: `smtp_550`, `address`, `timeout`, `connection`, `tls`, `login`, `deadline`. */
      readonly reason: string;
      /** The relay's own words, or null. They quote addresses: not for the log. */
      readonly answer: string | null;
    };

/** What became of a message that was not sent, as far as is known. */
export type FailedResult = Exclude<SendResult, { outcome: 'sent' }>;

/** Sends mail. */
export interface MailTransport {
  /**
   * Sends one message within a limit of time; never throws.
   * @param signal ends the sending; the relay may have taken the message nevertheless
   */
  send(message: MailMessage, signal?: AbortSignal): Promise<SendResult>;
  /** Lets go of the connections; messages under way are finished first. */
  close(): void;
}
