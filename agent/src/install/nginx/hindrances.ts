import type { ProxyOptions } from './proxy-plan.ts';
import { describeNode, listNamed, type Node } from './read-configuration.ts';
import { challengePath, refusedLocation, upstream } from './render.ts';
import { findRewrite } from './rewrites.ts';
import type { Server } from './servers.ts';

type Levels = Pick<Server, 'directives' | 'inherited'>;

const VERIFICATION = new Set([
  'ssl_verify_client',
  'ssl_client_certificate',
  'ssl_trusted_certificate',
  'ssl_crl',
  'ssl_verify_depth',
]);

/** Why the route cannot go into a server block: one sentence; null when it can. */
export function findRouteHindrance(server: Server, options: ProxyOptions): string | null {
  return findTaken(server, options) ?? findAccessHindrance(server) ?? findAnswer(server, options);
}

/** Why the challenge cannot go into a server block of port 80. */
export function findChallengeHindrance(server: Server): string | null {
  const taken = listLocations(server).find(({ path }) => path === challengePath);
  if (taken !== undefined) {
    return `The path ${challengePath} is taken already (${describeNode(taken.node)}).`;
  }
  return findLua(server) ?? findSubrequest(server);
}

/** What holds requests off, or hands them to a program, and would do so with ours. */
export function findAccessHindrance(levels: Levels): string | null {
  return findPassword(levels) ?? findSubrequest(levels) ?? findDenial(levels) ?? findLua(levels);
}

/** Whether the agent's route stands in a block already, written by hand. */
export function hasRouteByHand(server: Server, proxyPath: string): boolean {
  return listLocations(server).some(
    ({ path, node }) =>
      path === proxyPath &&
      listNamed(node.children, 'proxy_pass').some(({ directive }) =>
        directive.args[0]?.startsWith(upstream),
      ),
  );
}

function findTaken(server: Server, { proxyPath }: ProxyOptions): string | null {
  const taken = listLocations(server).find(
    ({ path }) =>
      path === proxyPath || path.startsWith(`${proxyPath}/`) || path === refusedLocation,
  );
  if (taken === undefined) return null;
  return `The path ${taken.path} is taken already (${describeNode(taken.node)}).`;
}

/** Paths of locations; regular expressions are left out, since ours come before them. */
function listLocations({ directives }: Pick<Server, 'directives'>): { path: string; node: Node }[] {
  return listNamed(directives, 'location').map((node) => {
    const [first = '', second] = node.directive.args;
    return { path: second ?? first.replace(/^(?:=|\^~)/, ''), node };
  });
}

function findAnswer(server: Server, { domain, proxyPath }: ProxyOptions): string | null {
  const found =
    findRewrite(server.directives, domain, proxyPath) ??
    findRewrite(server.directives, domain, `${proxyPath}/health`);
  if (found === null) return null;
  const { name } = found.directive;
  return `The server block of ${domain} answers by "${name}" before it looks at paths (${describeNode(found)}).`;
}

function findPassword(levels: Levels): string | null {
  const found = findEffective(levels, 'auth_basic').at(-1);
  if (found === undefined || found.directive.args[0] === 'off') return null;
  return `The site asks for a password on every path (${describeNode(found)}).`;
}

function findSubrequest(levels: Levels): string | null {
  const found = findEffective(levels, 'auth_request').at(-1);
  if (found === undefined || found.directive.args[0] === 'off') return null;
  return `The site lets another program decide on every request (${describeNode(found)}).`;
}

function findDenial({ directives, inherited }: Levels): string | null {
  const own = listAccessRules(directives);
  const rules = own.length > 0 ? own : listAccessRules(inherited);
  const found = rules.find(({ directive: { name, args } }) => name === 'deny' && args[0] === 'all');
  if (found === undefined) return null;
  return `The site is open to some addresses only (${describeNode(found)}).`;
}

function listAccessRules(nodes: readonly Node[]): readonly Node[] {
  return nodes.filter(({ directive: { name } }) => name === 'allow' || name === 'deny');
}

function findLua({ directives, inherited }: Levels): string | null {
  const found = [...inherited, ...directives].find(({ directive: { name } }) =>
    /^(?:server_rewrite|rewrite|access)_by_lua/.test(name),
  );
  if (found === undefined) return null;
  return `A program in Lua decides on every request (${describeNode(found)}).`;
}

/** Why client certificates cannot be asked for: they are verified for a whole server, so there is one way to do it. */
export function findVerificationHindrance({ directives, inherited }: Levels): string | null {
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
  return `The site has error pages that the one for refused certificates would displace (${describeNode(lost)}).`;
}

/** What counts for a server: its own, else what it inherits. */
function findEffective({ directives, inherited }: Levels, name: string): readonly Node[] {
  const own = listNamed(directives, name);
  return own.length > 0 ? own : listNamed(inherited, name);
}
