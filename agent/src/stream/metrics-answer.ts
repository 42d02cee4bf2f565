import type { IncomingMessage, ServerResponse } from 'node:http';

import { CONTENT_TYPES, type MetricsFormat, toMetricsText } from '../formats/openmetrics.ts';
import { findNotices } from '../notices.ts';
import type { Hub, TakenSnapshot } from './hub.ts';

/** Answers scrapes of `/metrics` from the next snapshot, encoded once for all that wait for it. */
export class MetricsAnswers {
  readonly #hub: Pick<Hub, 'takeSnapshot'>;
  #taken: TakenSnapshot | null = null;
  readonly #encoded = new Map<MetricsFormat, Buffer>();

  constructor(hub: Pick<Hub, 'takeSnapshot'>) {
    this.#hub = hub;
  }

  /** @param headers of every answer */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const format = chooseFormat(request.headers.accept);
    const body = this.#encode(await this.#hub.takeSnapshot(), format);
    const own = { 'Content-Type': CONTENT_TYPES[format], 'Content-Length': body.length };
    response.writeHead(200, { ...headers, ...own, Vary: 'Accept' }).end(body);
  }

  #encode(taken: TakenSnapshot, format: MetricsFormat): Buffer {
    if (taken !== this.#taken) this.#encoded.clear();
    this.#taken = taken;
    let body = this.#encoded.get(format);
    if (body === undefined) {
      const { snapshot, host } = taken;
      body = Buffer.from(toMetricsText(snapshot, host, findNotices(snapshot), format));
      this.#encoded.set(format, body);
    }
    return body;
  }
}

/** Prometheus prefers OpenMetrics; the older text is for clients that request only that. */
function chooseFormat(accept = '*/*'): MetricsFormat {
  const isOlder = accept.includes('text/plain') && !accept.includes('application/openmetrics-text');
  return isOlder ? 'text' : 'openmetrics';
}
