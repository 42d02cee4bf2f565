/** An OpenID Connect provider on a free port, whose people are the JSON of the first argument. It prints its issuer. */
import { createServer } from 'node:http';

import { Provider } from 'oidc-provider';

const people = new Map(Object.entries(JSON.parse(process.argv[2] ?? '{}')));
const redirectUri = process.argv[3] ?? '';

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const { port } = Object(server.address());
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'latchkey',
        client_secret: 'a secret of the tests',
        redirect_uris: [redirectUri],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...people.get(id) }),
    }),
  });
  server.on('request', provider.callback());
  process.stdout.write(`${issuer}\n`);
});
