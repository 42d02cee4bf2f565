import { type Finding, ok, problem, skipped, warning } from '../finding.ts';
import type { Inspection } from '../inspect/inspection.ts';

/** Checks that pages of the allowed origins can watch, and that no other page can without its visitor's knowledge. */
export function checkOrigins({
  configuration,
  origins,
}: Pick<Inspection, 'configuration' | 'origins'>): Finding {
  if (configuration.kind === 'invalid')
    return skipped('origins', 'The allowed origins are unknown.');
  const { path, config } = configuration;
  const { allowedOrigins, tls } = config;
  const unread = origins.find((each) => each.isAllowedByAgent === false)?.origin;
  if (unread !== undefined) {
    return problem('origins', {
      symptom: `Pages of ${unread} cannot watch this machine, although ${path} allows it.`,
      cause: 'The list was changed after the running agent read it.',
      fix: 'latchkey-agent reload',
    });
  }
  const stripped = origins.find((each) => each.isPassedByProxy === false)?.origin;
  if (stripped !== undefined) {
    return problem('origins', {
      symptom: `Pages of ${stripped} cannot watch, or cannot show why they are refused.`,
      cause:
        'The web server in front of the agent does not forward the header Origin, or not Access-Control-Allow-Origin of the answer.',
      fix: 'Remove the lines that hide or set these headers on the path of the agent, and reload the web server.',
    });
  }
  if (allowedOrigins.has('*') && tls.clients !== null) {
    return warning('origins', {
      symptom: 'Every page that somebody with a client certificate opens can watch this machine.',
      cause: `${path} allows pages of all origins ("*"), and browsers show the certificate to each.`,
      fix: 'Name the origins: latchkey-agent origins add https://console.example.com, then: latchkey-agent origins remove "*"',
    });
  }
  const plain = [...allowedOrigins].find(isInterceptable);
  if (plain !== undefined) {
    return warning('origins', {
      symptom: 'Somebody on the network path can watch this machine through the page.',
      cause: `${path} allows ${plain}, whose scripts are sent without TLS and can be replaced.`,
      fix: `Serve that page by https, then: latchkey-agent origins add ${plain.replace('http:', 'https:')} && latchkey-agent origins remove ${plain}`,
    });
  }
  const list = [...allowedOrigins].join(', ');
  return ok(
    'origins',
    list === '' ? 'No pages of other sites may watch.' : `Pages may watch: ${list}.`,
  );
}

/** Pages of this computer itself are not sent over a network. */
function isInterceptable(origin: string): boolean {
  const { protocol, hostname = '' } = URL.parse(origin) ?? {};
  return protocol === 'http:' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/u.test(hostname);
}
