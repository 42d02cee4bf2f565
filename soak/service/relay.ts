import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { SMTPServer } from 'smtp-server';

import type { AcceptedMail } from '../ledger/record-mail.ts';

export type OnMail = (mail: AcceptedMail) => void;

/** An SMTP relay on this machine that accepts every message; it can be down for a time. */
export interface Relay {
  readonly port: number;
  /** Whether a message is being received. */
  readonly isReceiving: boolean;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/**
 * Starts the relay.
 * @param onMail is called for each recipient of an accepted message
 */
export async function startRelay(port: number, onMail: OnMail): Promise<Relay> {
  let listening = await listen(port, onMail);
  return {
    port,
    get isReceiving() {
      return listening.isReceiving;
    },
    stop: () => listening.stop(),
    async start() {
      listening = await listen(port, onMail);
    },
  };
}

async function listen(port: number, onMail: OnMail): Promise<Pick<Relay, 'isReceiving' | 'stop'>> {
  let isStopping = false;
  let receiving = 0;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    disableReverseLookup: true,
    // Open connections are cut, as by a relay that fails.
    closeTimeout: 10,
    onData: (stream, { envelope }, confirm) => void receive(stream, envelope.rcptTo, confirm),
  });

  async function receive(
    stream: Readable,
    recipients: readonly { readonly address: string }[],
    confirm: () => void,
  ): Promise<void> {
    receiving += 1;
    const raw = await text(stream).catch(() => null);
    receiving -= 1;
    // The sender ended within the message, or was told that the relay ends: the message is not accepted.
    if (raw === null || isStopping) return;
    const acceptedAt = performance.now();
    for (const { address } of recipients) onMail({ address, raw, acceptedAt });
    confirm();
  }

  // A client that hangs up must not end the run.
  server.on('error', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    get isReceiving() {
      return receiving > 0;
    },
    stop() {
      isStopping = true;
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
