import { once } from 'node:events';

import { SMTPServer } from 'smtp-server';

/** An SMTP relay on this machine that accepts and discards every message; it can be down for a time. */
export interface Relay {
  readonly port: number;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/**
 * Starts the relay.
 * @param onMail is called for each recipient of an accepted message
 */
export async function startRelay(port: number, onMail: (address: string) => void): Promise<Relay> {
  let server = await listen(port, onMail);
  return {
    port,
    stop: () => new Promise((resolve) => server.close(resolve)),
    async start() {
      server = await listen(port, onMail);
    },
  };
}

async function listen(port: number, onMail: (address: string) => void): Promise<SMTPServer> {
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    disableReverseLookup: true,
    // Open connections are cut, as by a relay that fails.
    closeTimeout: 10,
    onData(stream, { envelope }, callback) {
      stream.resume().once('end', () => {
        for (const { address } of envelope.rcptTo) onMail(address);
        callback();
      });
    },
  });
  // A client that hangs up must not end the run.
  server.on('error', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  return server;
}
