/** The agents of the listed servers (`world/fleet.ts`), played inside of a browser: nothing listens. */
import type { AgentBriefHello, AgentNotice } from '@latchkey/contract';
import type { BrowserContext, WebSocketRoute } from 'playwright-core';

const SOCKET = /^wss:\/\/(?<name>[\w-]+)\.fleet\.example:4096\/$/;
const ADMISSION = /^https:\/\/[\w-]+\.fleet\.example:4096\/\?admission$/;

/** What a page with these servers causes: a request why the WebSocket was closed, and its answer. */
export const EXPECTED_OF_AGENTS = [
  /^request to another host: https:\/\/nas\.fleet\.example:4096\/\?admission$/,
  /status of 401/,
];

const NEEDS_TOKEN = 'An access token is needed: send it as "Authorization: Bearer TOKEN".';

/** How each agent answers a WebSocket; one that is missing stays silent. */
const ANSWERS: Readonly<Record<string, (socket: WebSocketRoute) => unknown>> = {
  'web-1': (socket) => socket.send(greet('web-1', [])),
  'web-2': (socket) => socket.send(greet('web-2', [])),
  'db-1': (socket) =>
    socket.send(
      greet('db-1', [
        { code: 'disk_failing', severity: 'error', subject: 'sda', since: sinceMinutes(9) },
        {
          code: 'filesystem_full',
          severity: 'warning',
          subject: '/var',
          ratio: 0.93,
          since: sinceMinutes(70),
        },
      ]),
    ),
  nas: (socket) => socket.close({ code: 1008, reason: NEEDS_TOKEN }),
};

/** Answers for the agents in every page of a context. */
export async function playAgents(context: BrowserContext): Promise<void> {
  await context.routeWebSocket(SOCKET, (socket) => {
    const name = SOCKET.exec(socket.url())?.groups?.['name'] ?? '';
    ANSWERS[name]?.(socket);
  });
  await context.route(ADMISSION, (route) =>
    route.fulfill({
      status: 401,
      contentType: 'text/plain',
      body: `${NEEDS_TOKEN}\n`,
      headers: {
        'access-control-allow-origin': route.request().headers()['origin'] ?? '*',
        'access-control-allow-credentials': 'true',
      },
    }),
  );
}

const POINTS = 120;

/** A first message that says all: the next one is due after a minute. */
function greet(hostname: string, notices: AgentNotice[]): string {
  const times = Array.from({ length: POINTS }, (_, at) => Date.now() - (POINTS - 1 - at) * 1000);
  const column = (scale: number) => times.map((_, at) => scale * (0.4 + 0.3 * Math.sin(at / 9)));
  return JSON.stringify({
    type: 'hello',
    schema_version: 1,
    agent_version: '1.0.0',
    agent_started_at: sinceMinutes(600),
    interval_seconds: 60,
    host: {
      hostname,
      os_name: 'Debian GNU/Linux 13 (trixie)',
      architecture: 'x64',
      machine_type: 'virtual',
      cpu_logical_count: 4,
      boot_time: sinceMinutes(700),
    },
    history: {
      time: times.map((each) => new Date(each).toISOString()),
      cpu_usage_ratio: column(1),
      memory_usage_ratio: column(0.7),
      load_1m: column(4),
      receive_bytes_per_second: column(5e6),
      transmit_bytes_per_second: column(1e6),
    },
    notices,
  } satisfies AgentBriefHello);
}

function sinceMinutes(minutes: number): string {
  return new Date(Date.now() - 60_000 * minutes).toISOString();
}
