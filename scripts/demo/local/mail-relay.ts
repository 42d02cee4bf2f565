/** An SMTP relay on this machine that accepts messages and discards them. */
import { once } from 'node:events';

import { SMTPServer } from 'smtp-server';

import { decideAcceptance } from './mail-rules.ts';

export interface LocalRelay {
  readonly port: number;
  /** The number of messages that were accepted. */
  readonly accepted: number;
  close(): Promise<void>;
}

const REPLIES = {
  unknown_user: { code: 550, words: '5.1.1 Recipient address rejected: User unknown' },
  busy: { code: 451, words: '4.7.1 Try again later' },
} as const;

/** Starts the relay on a free port of the loopback interface. */
export async function startMailRelay(): Promise<LocalRelay> {
  let accepted = 0;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 200,
    onRcptTo({ address }, _session, callback) {
      const acceptance = decideAcceptance(address);
      if (acceptance === 'accepted') return callback();
      const { code, words } = REPLIES[acceptance];
      callback(Object.assign(new Error(words), { responseCode: code }));
    },
    onData(stream, _session, callback) {
      stream.resume().once('end', () => {
        accepted += 1;
        callback(null, 'delivered to nobody');
      });
    },
  });
  // A client that hangs up must not end the demo.
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  return {
    port: address.port,
    get accepted() {
      return accepted;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
