import { CLIENT_CERTIFICATE_HEADER } from '../../proxy-identity.ts';
import { findRewrite } from './matching.ts';
import type { ProxyOptions } from '../proxy-options.ts';
import { describeNode, listNamed, type Node } from './read-configuration.ts';
import { challengePath, describeUpstream, refusedLocation, renderExemption } from './render.ts';
import { findEffective, type Server } from './servers.ts';

/** The reason for which nginx is not changed, for the administrator who configures it instead. */
export interface Blocker {
  /** One sentence, with file and line. */
  readonly reason: string;
  /** Advice in addition to the text to paste; null when the text is sufficient. */
  readonly advice: string | null;
}

type Levels = Pick<Server, 'directives' | 'inherited'>;

const VERIFICATION = new Set([
  'ssl_verify_client',
  'ssl_client_certificate',
  'ssl_trusted_certificate',
  'ssl_crl',
  'ssl_verify_depth',
]);

/** Returns why the route cannot be added to a server block; null when it can. */
export function findRouteBlocker(server: Server, options: ProxyOptions): Blocker | null {
  return (
    findLocationBlocker(server, options) ??
    findAccessBlocker(server) ??
    findRewriteBlocker(server, options)
  );
}

/** Returns why the challenge cannot be added to a server block on port 80. */
export function findChallengeBlocker(server: Server): string | null {
  const taken = listLocations(server).find(({ path }) => path === challengePath);
  if (taken !== undefined) {
    return `The path ${challengePath} is taken already (${describeNode(taken.node)}).`;
  }
  return (findLua(server) ?? findSubrequest(server))?.reason ?? null;
}

/** Returns a directive that would also refuse the agent's requests, or pass them to a program. */
export function findAccessBlocker(levels: Levels): Blocker | null {
  return findPassword(levels) ?? findSubrequest(levels) ?? findDenial(levels) ?? findLua(levels);
}

/** Whether a block already contains the agent's route with everything that the options require. */
export function hasManualRoute(server: Server, options: ProxyOptions): boolean {
  const { proxyPath, mutualTls } = options;
  return listLocations(server).some(
    ({ path, node: { children } }) =>
      path === proxyPath &&
      listNamed(children, 'proxy_pass').some(({ directive: { args } }) =>
        `${args[0]}/`.startsWith(describeUpstream(options)),
      ) &&
      (!mutualTls ||
        (listNamed(children, 'if').some(checksCertificate) && children.some(passesCertificate))),
  );
}

/** Whether a directive forwards the client certificate, without which the agent rejects viewers. */
function passesCertificate({ directive: { name, args } }: Node): boolean {
  return (
    name === 'proxy_set_header' &&
    args[0]?.toLowerCase() === CLIENT_CERTIFICATE_HEADER.toLowerCase() &&
    args[1] === '$ssl_client_escaped_cert'
  );
}

function checksCertificate({ directive: { args } }: Node): boolean {
  return /^\( ?\$ssl_client_verify ?!= ?SUCCESS ?\)$/.test(args.join(' '));
}

function findLocationBlocker(server: Server, { proxyPath }: ProxyOptions): Blocker | null {
  const taken = listLocations(server).find(
    ({ path }) =>
      path === proxyPath || path.startsWith(`${proxyPath}/`) || path === refusedLocation,
  );
  if (taken === undefined) return null;
  return {
    reason: `The path ${taken.path} is taken already (${describeNode(taken.node)}).`,
    advice:
      'Install with another path (LATCHKEY_PROXY_PATH), or replace the location that has this path now by the text.',
  };
}

/** Returns the paths of locations; regular expressions are skipped, because the agent's locations precede them. */
function listLocations({ directives }: Pick<Server, 'directives'>): { path: string; node: Node }[] {
  return listNamed(directives, 'location').map((node) => {
    const [first = '', second] = node.directive.args;
    return { path: second ?? first.replace(/^(?:=|\^~)/, ''), node };
  });
}

function findRewriteBlocker(server: Server, { domain, proxyPath }: ProxyOptions): Blocker | null {
  const found =
    findRewrite(server.directives, domain, proxyPath) ??
    findRewrite(server.directives, domain, `${proxyPath}/health`);
  if (found === null) return null;
  const { name } = found.directive;
  return {
    reason: `The server block of ${domain} answers by "${name}" before it selects a location (${describeNode(found)}).`,
    advice: `Put this at its very beginning, so that the "${name}" does not apply to the agent's paths:\n\n${renderExemption(proxyPath)}`,
  };
}

function findPassword(levels: Levels): Blocker | null {
  return findSwitchedOn(levels, 'auth_basic', 'The site requires a password on every path');
}

function findSubrequest(levels: Levels): Blocker | null {
  return findSwitchedOn(
    levels,
    'auth_request',
    'The site has another program authorize every request',
  );
}

/** Returns a blocker for a directive that `off` turns off in a location. */
function findSwitchedOn(levels: Levels, name: string, reason: string): Blocker | null {
  const found = findEffective(levels, name).at(-1);
  if (found === undefined || found.directive.args[0] === 'off') return null;
  return { reason: `${reason} (${describeNode(found)}).`, advice: adviseLine(`${name} off;`) };
}

function findDenial({ directives, inherited }: Levels): Blocker | null {
  const own = listAccessRules(directives);
  const rules = own.length > 0 ? own : listAccessRules(inherited);
  const found = rules.find(({ directive: { name, args } }) => name === 'deny' && args[0] === 'all');
  if (found === undefined) return null;
  return {
    reason: `The site is open to some addresses only (${describeNode(found)}).`,
    advice: adviseLine('allow all;'),
  };
}

function adviseLine(line: string): string {
  return `Add "${line}" to each of the agent's locations that must stay open.`;
}

function listAccessRules(nodes: readonly Node[]): readonly Node[] {
  return nodes.filter(({ directive: { name } }) => name === 'allow' || name === 'deny');
}

function findLua({ directives, inherited }: Levels): Blocker | null {
  const found = [...inherited, ...directives].find(({ directive: { name } }) =>
    /^(?:server_rewrite|rewrite|access)_by_lua/.test(name),
  );
  if (found === undefined) return null;
  return {
    reason: `A program in Lua decides on every request (${describeNode(found)}).`,
    advice: 'The program must admit these paths.',
  };
}

/** Returns why client certificates cannot be requested: a server block has one verification for all paths. */
export function findVerificationBlocker({ directives, inherited }: Levels): string | null {
  const found = [...inherited, ...directives].find(({ directive: { name } }) =>
    VERIFICATION.has(name),
  );
  if (found !== undefined) {
    return `The site has its own settings for client certificates, "${found.directive.name}" (${describeNode(found)}).`;
  }
  const pages = listNamed(directives, 'error_page');
  const page = pages.find(
    ({ directive: { args } }) => args.includes('495') || args.includes('496'),
  );
  const lost = pages.length === 0 ? listNamed(inherited, 'error_page')[0] : page;
  if (lost === undefined) return null;
  return `The site has error pages that the one for invalid certificates would replace (${describeNode(lost)}).`;
}
