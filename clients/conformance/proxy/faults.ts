import { passOn, writeHead, type ServiceAnswer } from './exchange.ts';
import type { Fault } from './fault-proxy.ts';

const HTML = '<!doctype html><title>Welcome</title><p>Sign in to use the network of this hotel.';

/** Reads the request and never answers. */
export const hang: Fault = () => {};

/** Closes the connection instead of an answer. */
export const closeConnection: Fault = ({ response }) => {
  response.destroy();
};

/** Passes the request on and closes the connection instead of the answer: the service did what was requested. */
export const loseAnswer: Fault = async ({ response, forward }) => {
  await forward();
  response.destroy();
};

/** Sends half of the announced body, and closes the connection. */
export const cutBody: Fault = async ({ response, forward }) => {
  const { status, rawHeaders, body } = await forward();
  writeHead(response, status, rawHeaders, body.length);
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
};

/** Sends half of the JSON as a complete body. */
export const cutJson: Fault = changeAnswer((answer) => ({
  ...answer,
  body: answer.body.subarray(0, answer.body.length / 2),
}));

/** Sends the body one byte at a time, more slowly than any client waits. */
export const trickle: Fault = async ({ response, forward }) => {
  const { status, rawHeaders, body } = await forward();
  writeHead(response, status, rawHeaders, body.length);
  let sent = 0;
  const timer = setInterval(() => {
    response.write(body.subarray(sent, sent + 1));
    sent = Math.min(sent + 1, body.length - 1);
  }, 50);
  response.once('close', () => clearInterval(timer));
};

/** Answers with a text. */
export function answerText(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Fault {
  return ({ response }) => {
    response.writeHead(status, { 'content-type': 'text/plain', ...headers });
    response.end(body);
  };
}

/** Answers with a page for people, like a hotel's network or a firewall. */
export function answerHtml(status: number, headers: Readonly<Record<string, string>> = {}): Fault {
  return answerText(status, HTML, { 'content-type': 'text/html; charset=utf-8', ...headers });
}

/** Answers with JSON. */
export function answerJson(status: number, body: unknown): Fault {
  return answerText(status, JSON.stringify(body), { 'content-type': 'application/json' });
}

/** Answers with problem details (RFC 9457). */
export function answerProblem(
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Fault {
  const problem = { type: `/docs/errors#${code}`, title: code, status, code };
  return answerText(status, JSON.stringify(problem), {
    'content-type': 'application/problem+json',
    ...headers,
  });
}

/** Sends the client to another address. */
export function redirect(status: number, location: string): Fault {
  return answerHtml(status, { location });
}

/** Passes the request on, and changes fields of the JSON in the answer; undefined removes one. */
export function editJson(changes: Readonly<Record<string, unknown>>): Fault {
  return changeAnswer((answer) => {
    const json: unknown = JSON.parse(answer.body.toString());
    const body = JSON.stringify({ ...(typeof json === 'object' ? json : {}), ...changes });
    return { ...answer, body: Buffer.from(body) };
  });
}

/** Passes the request on, and replaces the time of the answer; null removes the header. */
export function withDate(date: string | null): Fault {
  return async ({ response, forward }) => {
    const answer = await forward();
    const rawHeaders = removeHeader(answer.rawHeaders, 'date');
    response.sendDate = false;
    if (date !== null) response.setHeader('date', date);
    passOn(response, { ...answer, rawHeaders });
  };
}

function changeAnswer(change: (answer: ServiceAnswer) => ServiceAnswer): Fault {
  return async ({ response, forward }) => passOn(response, change(await forward()));
}

function removeHeader(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter(
    (_text, index) => rawHeaders[index - (index % 2)]?.toLowerCase() !== name,
  );
}
