import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, describe, test } from 'node:test';

import { lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { openStream } from '../../test/stream-harness.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';
import { runSession } from './session.ts';
import { openTarget, parseAddress, parseFingerprint, type Target } from './target.ts';
import type { ConnectionState, View } from './view.ts';

describe('a session', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const root = fixture.createRoot('root');
  const server = root.issueServer();
  const fingerprint = parseFingerprint(new X509Certificate(server.cert).fingerprint256);

  function openPinned(port: number, options: object = {}): Target {
    return openTarget(parseAddress(`wss://127.0.0.1:${port}`), { fingerprint, ...options });
  }

  test('reconnects with doubled pauses, keeps its points, and stops on the signal', async () => {
    const stream = await openStream({ tls: readTlsMaterial({ ...server, clients: null }) });
    const stop = new AbortController();
    const states: ConnectionState[] = [];
    let view: View | null = null;
    const ended = runSession({
      target: openPinned(stream.port),
      signal: stop.signal,
      secondMs: 5,
      onChange(changed, message) {
        view = changed;
        if (message?.kind === 'hello') stream.hub.tick();
        if (message?.kind === 'snapshot') void stream[Symbol.asyncDispose]();
        if (message === null && changed.state.kind !== 'silent') states.push(changed.state);
        if (states.length === 10) stop.abort();
      },
    });
    await ended;
    const known: View = Object(view);
    assert.deepEqual([known.hello?.host.hostname, known.points.length], ['db-1', 1]);
    const refused = `Nothing listens on 127.0.0.1:${stream.port}.`;
    const waiting = (seconds: number, why = refused) => ({ kind: 'waiting', seconds, why });
    const connecting = { kind: 'connecting' };
    assert.deepEqual(states, [
      connecting,
      waiting(1, 'The agent stops.'),
      connecting,
      waiting(2),
      waiting(1),
      connecting,
      ...[4, 3, 2, 1].map((seconds) => waiting(seconds)),
    ]);
  });

  test('ends with the reason when the certificate is revoked', async () => {
    const clients = { authorityFile: root.own.certificateFile, revocationFile: null };
    const tls = readTlsMaterial({ ...server, clients });
    await using stream = await openStream({ tls });
    const client = root.issueClient('ada');
    const files = { certificate: client.certificateFile, key: client.keyFile };
    const revoke = (): void => {
      const revocationFile = root.writeRevocations([client]);
      stream.server.setTls(readTlsMaterial({ ...server, clients: { ...clients, revocationFile } }));
    };
    const session = runSession({
      target: openPinned(stream.port, files),
      signal: new AbortController().signal,
      onChange: (_view, message) => {
        if (message?.kind === 'hello') stream.hub.tick();
        if (message?.kind === 'snapshot') revoke();
      },
    });
    await assert.rejects(session, {
      kind: 'refused',
      message: `127.0.0.1:${stream.port} closed the connection: The client certificate was revoked.`,
    });
  });

  test('reports for how long snapshots are late', async () => {
    await using stream = await openStream({
      tls: readTlsMaterial({ ...server, clients: null }),
    });
    const stop = new AbortController();
    const states: ConnectionState[] = [];
    await runSession({
      target: openPinned(stream.port),
      signal: stop.signal,
      secondMs: 5,
      onChange({ state }, message) {
        if (message?.kind === 'hello') stream.hub.tick();
        if (state.kind === 'silent') states.push(state);
        if (states.length === 2) stop.abort();
      },
    });
    const [first, second] = states.map((state) => (state.kind === 'silent' ? state.seconds : 0));
    assert.ok(first !== undefined && first > 3 && second !== undefined && second >= first);
  });
});
