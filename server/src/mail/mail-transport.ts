/** Sending e-mail: the message, the result, and the interface that `smtp-transport.ts` implements. */

/** A message to one recipient. */
export interface MailMessage {
  readonly to: { readonly address: string; readonly name: string | null };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The part of the Message-ID left of the `@`. It is the same for each retry, so that duplicates can be recognized. */
  readonly messageToken: string;
  /** Added to the header fields of every message. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type SendResult =
  | { readonly outcome: 'sent'; readonly messageId: string }
  /**
   * `temporary`: a retry may succeed. `permanent`: no retry of this message to this address can succeed. `unknown`: the
   * relay received the whole message but did not confirm it, so that a retry may deliver it twice.
   */
  | {
      readonly outcome: 'temporary' | 'permanent' | 'unknown';
      /** A stable code: `smtp_550`, `address`, `timeout`, `connection`, `tls`, `login`, `deadline`. */
      readonly reason: string;
      /** The reply of the relay, or null. Replies quote addresses, so it must not be logged. */
      readonly reply: string | null;
    };

export type FailedResult = Exclude<SendResult, { outcome: 'sent' }>;

export interface MailTransport {
  /**
   * Sends one message within a time limit; never throws.
   * @param signal aborts the sending; the relay may have accepted the message nevertheless
   */
  send(message: MailMessage, signal?: AbortSignal): Promise<SendResult>;
  /** Connects and logs in without sending anything; returns why that fails, or null. Never throws. */
  check?(): Promise<FailedResult | null>;
  /** Closes the connections once the messages in progress are finished. */
  close(): void;
}
